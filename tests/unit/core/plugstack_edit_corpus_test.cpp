// What the fuzzer starts from, and what it ever found, as an ordinary test.
#include <gtest/gtest.h>

#include "fuzz/plugstack_edit_fuzz.hpp"
#include "fuzz/replay.hpp"

namespace llmgw {
namespace {

TEST(PlugstackEditCorpus, every_edit_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/plugstack_edit", fuzz::plugstack_edit), 15U);
}

}  // namespace
}  // namespace llmgw
