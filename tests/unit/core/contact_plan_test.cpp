#include "core/contact_plan.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/limits.hpp"

namespace llmgw {
namespace {

using State = SlurmContact::State;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// As 22.05.8 and 24.11.5 print it.
TEST(Contact, who_is_believed_gets_an_answer) {
    EXPECT_EQ(read_contact(true, "PartitionName=gpu\n"), (SlurmContact{State::answers, ""}));
    EXPECT_EQ(read_contact(true, "No partitions in the system\n").state, State::answers);
}

TEST(Contact, who_is_not_believed_gets_none) {
    EXPECT_EQ(
        read_contact(false, "slurm_load_partitions error: Zero Bytes were transmitted or received\n").state,
        State::refuses);
    EXPECT_EQ(read_contact(false, "slurm_load_partitions error: Protocol authentication error\n").state,
              State::refuses);
    EXPECT_EQ(read_contact(false, "error: Munge decode failed: Expired credential\n").state, State::refuses);
}

TEST(Contact, one_that_is_away_is_no_refusal) {
    const SlurmContact away = read_contact(
        false, "slurm_load_partitions error: Unable to contact slurm controller (connect failure)\n\n");
    EXPECT_EQ(away.state, State::silent);
    EXPECT_EQ(away.said, "slurm_load_partitions error: Unable to contact slurm controller (connect failure)");
}

TEST(Contact, what_this_machines_munged_refuses_is_not_slurmctlds_refusal) {
    const SlurmContact own = read_contact(
        false,
        "slurm_load_partitions: error: Munge encode failed: Failed to access \"/run/munge/munge.socket.2\"\n"
        "slurm_load_partitions error: Protocol authentication error\n");
    EXPECT_EQ(own.state, State::silent);
}

TEST(Contact, what_it_says_is_one_line_of_limited_length) {
    const SlurmContact contact = read_contact(false, "x\n" + std::string(10000, 'y') + "\a\n");
    EXPECT_LE(contact.said.size(), limits::last_words_bytes + 8);
    EXPECT_FALSE(has(contact.said, "\a"));
}

Step contact(State state, std::optional<std::int64_t> ahead) {
    ClusterFacts facts;
    facts.contact.state = state;
    facts.clock_ahead = ahead;
    return contact_step(facts, "ctl");
}

TEST(ContactStep, names_the_clock_where_it_is_the_clock) {
    const Step ahead = contact(State::refuses, 600);
    EXPECT_FALSE(ahead.done);
    EXPECT_FALSE(ahead.advisory);
    EXPECT_TRUE(has(ahead.finding, "slurmctld on ctl does not take")) << ahead.finding;
    EXPECT_TRUE(has(ahead.finding, "clock is 600 s ahead of the leader's")) << ahead.finding;
    EXPECT_TRUE(has(contact(State::refuses, -600).finding, "clock is 600 s behind the leader's"));
    EXPECT_FALSE(has(ahead.finding, "another key"));
}

TEST(ContactStep, names_the_key_where_the_clock_is_right) {
    const Step step = contact(State::refuses, 1);
    EXPECT_FALSE(step.done);
    EXPECT_FALSE(step.advisory);
    EXPECT_TRUE(has(step.finding, "munge has another key there")) << step.finding;
    EXPECT_TRUE(has(step.finding, "systemctl restart munge")) << step.finding;
}

TEST(ContactStep, says_both_where_the_clock_is_not_known) {
    const Step step = contact(State::refuses, std::nullopt);
    EXPECT_FALSE(step.advisory);
    EXPECT_TRUE(has(step.finding, "another key there, or one of the two clocks")) << step.finding;
}

TEST(ContactStep, holds_nothing_up_where_slurmctld_is_away) {
    EXPECT_TRUE(contact(State::silent, 0).advisory);
    EXPECT_FALSE(contact(State::silent, 0).done);
    EXPECT_TRUE(contact(State::unasked, 0).done);
    EXPECT_TRUE(contact(State::answers, 0).done);
}

Step clock(std::optional<std::int64_t> ahead) {
    ClusterFacts facts;
    facts.clock_ahead = ahead;
    return clock_step(facts);
}

TEST(ClockStep, says_what_differs_from_its_limit_on) {
    const std::int64_t most = limits::clock_differs.count();
    EXPECT_TRUE(clock(std::nullopt).done);
    for (const std::int64_t fine : {std::int64_t{0}, most, -most}) EXPECT_TRUE(clock(fine).done) << fine;
    for (const std::int64_t wrong : {most + 1, -most - 1}) {
        EXPECT_FALSE(clock(wrong).done) << wrong;
        EXPECT_TRUE(clock(wrong).advisory) << wrong;
    }
    EXPECT_TRUE(has(clock(-600).finding, "600 s behind the leader's")) << clock(-600).finding;
}

}  // namespace
}  // namespace llmgw
