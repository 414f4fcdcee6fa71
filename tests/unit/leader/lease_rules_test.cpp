#include "leader/lease_rules.hpp"

#include <gtest/gtest.h>

#include <array>

namespace llmgw::leader {
namespace {

LeaseRecord record(LeaseState state) {
    return {"b", 5, state, false, state == LeaseState::refused ? "busy" : "", {}};
}

LeaseRecord next(const LeaseDecision& decision) {
    const auto* const record = std::get_if<LeaseRecord>(&decision);
    EXPECT_NE(record, nullptr) << std::get_if<LeaseRefusal>(&decision)->message;
    return record != nullptr ? *record : LeaseRecord{};
}

std::uint64_t refused_at(const LeaseDecision& decision) {
    const auto* const refusal = std::get_if<LeaseRefusal>(&decision);
    return refusal != nullptr ? refusal->generation : 0;
}

constexpr std::array all{LeaseState::none, LeaseState::draining, LeaseState::free, LeaseState::refused};

TEST(LeaseRules, names_lead_back) {
    for (const LeaseState state : all) EXPECT_EQ(lease_state_of(name_of(state)), state);
    EXPECT_EQ(lease_state_of("gone"), std::nullopt);
}

TEST(LeaseRules, a_lower_generation_is_refused_with_the_last_one) {
    for (const LeaseState state : all) {
        for (const bool simple : {false, true}) {
            EXPECT_EQ(refused_at(asked(record(state), {"b", 4}, simple)), 5U);
            EXPECT_EQ(refused_at(given_back(record(state), {"b", 4}, simple)), 5U);
        }
    }
}

TEST(LeaseRules, one_generation_is_one_lease) {
    for (const LeaseState state : all) {
        EXPECT_EQ(refused_at(asked(record(state), {"a", 5}, true)), 5U);
        EXPECT_EQ(refused_at(given_back(record(state), {"a", 5}, true)), 5U);
    }
}

TEST(LeaseRules, what_was_given_back_is_not_given_again) {
    EXPECT_EQ(refused_at(asked(record(LeaseState::none), {"b", 5}, true)), 5U);
}

TEST(LeaseRules, asking_again_changes_nothing) {
    for (const LeaseState state : {LeaseState::draining, LeaseState::free})
        EXPECT_EQ(next(asked(record(state), {"b", 5}, true)), record(state));
}

TEST(LeaseRules, a_refused_one_asks_again) {
    for (const std::uint64_t generation : {5U, 6U}) {
        const LeaseRecord now = next(asked(record(LeaseState::refused), {"b", generation}, false));
        EXPECT_EQ(now, (LeaseRecord{"b", generation, LeaseState::draining, false, "", {}}));
    }
}

TEST(LeaseRules, a_higher_generation_takes_over_what_is_held) {
    for (const LeaseState state : {LeaseState::draining, LeaseState::free}) {
        LeaseRecord held = record(state);
        held.reclaim = Reclaim{1, "cancel"};
        const LeaseRecord now = next(asked(held, {"c", 9}, false));
        EXPECT_EQ(now, (LeaseRecord{"c", 9, state, false, "", Reclaim{1, "cancel"}}));
    }
}

TEST(LeaseRules, a_first_one_is_free_where_nothing_has_to_be_done) {
    EXPECT_EQ(next(asked({}, {"a", 1}, true)).state, LeaseState::free);
    EXPECT_EQ(next(asked({}, {"a", 1}, false)).state, LeaseState::draining);
}

// llmgw may be starting replicas just then.
TEST(LeaseRules, none_is_free_while_the_last_one_is_being_released) {
    LeaseRecord releasing = record(LeaseState::none);
    releasing.release_due = true;
    EXPECT_EQ(next(asked(releasing, {"c", 6}, true)),
              (LeaseRecord{"c", 6, LeaseState::draining, false, "", {}}));
}

TEST(LeaseRules, giving_back_releases_once) {
    for (const LeaseState state : {LeaseState::draining, LeaseState::free, LeaseState::refused}) {
        LeaseRecord held = record(state);
        held.reclaim = Reclaim{1, "cancel"};
        const LeaseRecord now = next(given_back(held, {"b", 5}, true));
        EXPECT_EQ(now, (LeaseRecord{"b", 5, LeaseState::none, true, "", {}}));
        EXPECT_EQ(next(given_back(now, {"b", 5}, true)), now);
        LeaseRecord released = now;
        released.release_due = false;
        EXPECT_EQ(next(given_back(released, {"b", 5}, true)), released);
        EXPECT_FALSE(next(given_back(held, {"b", 5}, false)).release_due);
    }
}

TEST(LeaseRules, giving_back_a_higher_one_is_remembered) {
    EXPECT_EQ(next(given_back({}, {"a", 7}, true)), (LeaseRecord{"a", 7, LeaseState::none, false, "", {}}));
    EXPECT_EQ(next(given_back(record(LeaseState::free), {"c", 7}, true)),
              (LeaseRecord{"c", 7, LeaseState::none, true, "", {}}));
}

}  // namespace
}  // namespace llmgw::leader
