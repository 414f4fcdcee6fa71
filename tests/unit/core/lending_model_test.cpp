// Rule 3 of docs/architecture.md, explored: in no state that can be reached do llmgw and Slurm both have, or
// may both start, something on a node, and from every one of them the node comes to whoever is to have it.
#include "unit/core/lending_model.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace llmgw::model {
namespace {

// Some 1.3 million states, in ten seconds where the compiler optimizes. LLMGW_MODEL_DEPTH explores further:
// 40 are some ten million.
unsigned depth() {
    if (const char* asked = std::getenv("LLMGW_MODEL_DEPTH")) return static_cast<unsigned>(std::atoi(asked));
#ifdef __OPTIMIZE__
    return 22;
#else
    return 14;
#endif
}

TEST(LendingModel, gives_a_node_one_owner_in_every_state) {
    const Exploration found = explore(Mutation::none, depth());
    EXPECT_EQ(found.broken, "");
    std::cout << "explored " << found.states << " states, all that are " << found.depth << " steps away"
              << (found.complete ? ", and there are no others" : "") << '\n';
    EXPECT_GT(found.states, 50000U);
}

class LendingMutation : public testing::TestWithParam<Mutation> {};

TEST_P(LendingMutation, is_noticed) {
    constexpr unsigned enough = 18;
    const Exploration found = explore(GetParam(), enough);
    EXPECT_NE(found.broken, "") << "after " << found.states << " states";
    std::cout << found.broken << " (" << found.states << " states)\n";
}

INSTANTIATE_TEST_SUITE_P(all, LendingMutation, testing::ValuesIn(all_mutations()),
                         [](const auto& mutation) { return std::string(text_of(mutation.param)); });

}  // namespace
}  // namespace llmgw::model
