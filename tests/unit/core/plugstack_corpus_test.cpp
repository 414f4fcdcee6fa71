// What the fuzzer starts from, and what it ever found, as an ordinary test.
#include <gtest/gtest.h>

#include "fuzz/plugstack_fuzz.hpp"
#include "fuzz/replay.hpp"

namespace llmgw {
namespace {

TEST(PlugstackCorpus, every_stack_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/plugstack", fuzz::plugstack), 13U);
}

}  // namespace
}  // namespace llmgw
