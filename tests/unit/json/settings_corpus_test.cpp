// What the fuzzer starts from, and what it ever found, as an ordinary test.
#include <gtest/gtest.h>

#include "fuzz/replay.hpp"
#include "fuzz/settings_fuzz.hpp"

namespace llmgw {
namespace {

TEST(SettingsCorpus, EveryDocumentKeepsThePromises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/settings", fuzz::settings), 15U);
}

}  // namespace
}  // namespace llmgw
