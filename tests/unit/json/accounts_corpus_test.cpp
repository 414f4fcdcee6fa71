// What the fuzzer starts from, and what it ever found, as an ordinary test.
#include <gtest/gtest.h>

#include "fuzz/accounts_fuzz.hpp"
#include "fuzz/replay.hpp"

namespace llmgw {
namespace {

TEST(AccountsCorpus, every_list_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/accounts", fuzz::accounts), 14U);
}

}  // namespace
}  // namespace llmgw
