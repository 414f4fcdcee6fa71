// The corpora of this layer's fuzz targets.
#include <gtest/gtest.h>

#include "fuzz/login_fuzz.hpp"
#include "fuzz/replay.hpp"
#include "fuzz/script_scan_fuzz.hpp"
#include "fuzz/state_text_fuzz.hpp"

namespace llmgw {
namespace {

TEST(Corpus, of_scripts_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/script_scan", fuzz::script_scan), 12U);
}

TEST(Corpus, of_logins_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/login", fuzz::login), 21U);
}

TEST(Corpus, of_state_files_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/state_text", fuzz::state_text), 20U);
}

}  // namespace
}  // namespace llmgw
