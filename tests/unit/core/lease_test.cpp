#include "core/lease.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

TEST(Lease, ids_lead_nowhere) {
    for (const std::string& id :
         {std::string(), std::string("../x"), std::string("a/b"), std::string("-a"), std::string("a b"),
          std::string(".a"), std::string("a\0", 2), std::string(65, 'a'), std::string("\xC3\xA4")}) {
        EXPECT_FALSE(is_lease_id(id)) << id;
    }
    EXPECT_TRUE(is_lease_id("n1-7.a_B"));
    EXPECT_TRUE(is_lease_id(std::string(limits::lease_id_bytes, 'a')));
}

TEST(Lease, generations_are_from_one_to_what_every_reader_keeps) {
    EXPECT_FALSE(check_lease_request({"a", 0}).ok());
    EXPECT_TRUE(check_lease_request({"a", 1}).ok());
    EXPECT_TRUE(check_lease_request({"a", limits::lease_generation}).ok());
    EXPECT_FALSE(check_lease_request({"a", limits::lease_generation + 1}).ok());
}

TEST(Lease, reclaims_say_when_and_what) {
    EXPECT_TRUE(check_reclaim({0, "requeue"}).ok());
    EXPECT_TRUE(check_reclaim({1'700'000'000, "cancel"}).ok());
    EXPECT_FALSE(check_reclaim({-1, "cancel"}).ok());
    EXPECT_FALSE(check_reclaim({INT64_MAX, "cancel"}).ok());
    EXPECT_FALSE(check_reclaim({1, ""}).ok());
    EXPECT_FALSE(check_reclaim({1, "kill"}).ok());
}

TEST(Lease, answers_that_contradict_themselves_are_none) {
    const LeaseAnswer good{1, "draining", "a", 2, 3, "r", {}};
    EXPECT_TRUE(check_lease_answer(good).ok());
    EXPECT_TRUE(check_lease_answer({1, "none", "", 0, 0, "", {}}).ok());
    const auto refused = [&](const auto& change) {
        LeaseAnswer wrong = good;
        change(wrong);
        return !check_lease_answer(wrong).ok();
    };
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.state = "Free"; }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.state = ""; }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.state = "free"; }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.lease = ""; }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.lease = "../a"; }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.generation = limits::lease_generation + 1; }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.reason = "a\nb"; }));
    EXPECT_TRUE(
        refused([](LeaseAnswer& answer) { answer.reason = std::string(limits::message_bytes + 1, 'r'); }));
    EXPECT_TRUE(refused([](LeaseAnswer& answer) { answer.reclaim = Reclaim{1, "kill"}; }));
}

}  // namespace
}  // namespace llmgw
