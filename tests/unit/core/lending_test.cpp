// What lending_model_test can't say: the words, and cases with a single right answer.
#include "core/lending.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Phase = LendingPhase;
using Effect = LendingEffect;

LendingRecord record_in(Phase phase, std::uint64_t generation = 3) {
    LendingRecord record;
    record.phase = phase;
    record.generation = generation;
    record.lease = "lease";
    record.held = phase == Phase::slurm;
    return record;
}

LeaseAnswer answer(const std::string& state, std::uint64_t generation = 3) {
    LeaseAnswer made;
    made.state = state;
    made.generation = generation;
    made.lease = "lease";
    return made;
}

NodeInSlurm drained_by(const std::string& reason) {
    NodeInSlurm node;
    node.drained = node.idle = node.registered = true;
    node.reason = reason;
    return node;
}

// Everything is well, and Slurm is to have the node.
LendingFacts good(const std::string& state = "free") {
    LendingFacts facts;
    facts.wanted = WantedOwner::slurm;
    facts.leader = answer(state);
    facts.slurm = drained_by(drain_reason(3));
    facts.here.emplace();
    facts.now = 1000;
    facts.fresh_lease = "fresh";
    return facts;
}

TEST(DrainReason, carries_its_generation_and_is_nobody_elses) {
    EXPECT_EQ(drain_reason(0), "llmgw: not lent to Slurm");
    EXPECT_EQ(drain_reason(7), "llmgw: not lent to Slurm [lease 7]");
    for (const std::uint64_t generation : {0ULL, 1ULL, 7ULL, 123456789012ULL})
        EXPECT_EQ(generation_of_reason(drain_reason(generation)), generation);
    for (const char* other :
         {"", "broken fan", "llmgw", "llmgw: lent to Slurm", "llmgw: not lent to Slurm ",
          "llmgw: not lent to Slurm [lease ]", "llmgw: not lent to Slurm [lease 7",
          "llmgw: not lent to Slurm [lease 07]", "llmgw: not lent to Slurm [lease 0]",
          "llmgw: not lent to Slurm [lease 7] : Kill task failed", "llmgw: not lent to Slurm [lease -7]"}) {
        EXPECT_EQ(generation_of_reason(other), std::nullopt) << other;
    }
}

TEST(Lending, asks_with_a_generation_that_nobody_has_seen) {
    LendingFacts facts = good("none");
    facts.leader->generation = 9;
    const LendingDecision decision = decide_lending(record_in(Phase::gateway), facts);
    EXPECT_EQ(decision.next.phase, Phase::asking);
    EXPECT_EQ(decision.next.generation, 10U);
    EXPECT_EQ(decision.next.lease, "fresh");
    EXPECT_EQ(decision.effect, Effect::none);
}

TEST(Lending, waits_while_replicas_are_left_and_says_how_many) {
    LendingFacts facts = good("draining");
    facts.leader->replicas = 2;
    facts.leader->reason = "a stream is still open";
    const LendingDecision decision = decide_lending(record_in(Phase::asking), facts);
    EXPECT_EQ(decision.next, record_in(Phase::asking));
    EXPECT_EQ(decision.effect, Effect::none);
    EXPECT_EQ(decision.waiting,
              std::vector<std::string>{"llmgw drains its replicas here, 2 left: a stream is still open"});
}

TEST(Lending, says_why_llmgw_refused_and_asks_again_later_with_a_lease_of_its_own) {
    LendingFacts facts = good("refused");
    facts.leader->reason = "the last replica of a model";
    LendingDecision decision = decide_lending(record_in(Phase::asking), facts);
    EXPECT_EQ(decision.next.phase, Phase::asking);
    EXPECT_EQ(decision.waiting,
              std::vector<std::string>{"llmgw does not give this node now: the last replica of a model"});
    facts.ask_again = true;
    decision = decide_lending(record_in(Phase::asking), facts);
    EXPECT_EQ(decision.next.generation, 4U);
    EXPECT_EQ(decision.next.lease, "fresh");
}

TEST(Lending, names_who_holds_a_gpu_and_goes_no_further) {
    LendingFacts facts = good();
    facts.here->gpu_holders = {"pid 4711 (python3) has /dev/nvidia0 open"};
    const LendingDecision decision = decide_lending(record_in(Phase::checking), facts);
    EXPECT_EQ(decision.next.phase, Phase::checking);
    EXPECT_EQ(decision.effect, Effect::none);
    EXPECT_EQ(decision.waiting, facts.here->gpu_holders);
}

TEST(Lending, lends_only_what_is_known_to_be_well) {
    const auto ends_in = [](auto change) {
        LendingFacts facts = good();
        change(facts);
        const LendingDecision decision = decide_lending(record_in(Phase::checking), facts);
        EXPECT_EQ(decision.effect, Effect::none);
        return decision.next.phase;
    };
    EXPECT_EQ(ends_in([](LendingFacts&) {}), Phase::slurm);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.slurm.reset(); }), Phase::checking);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.here.reset(); }), Phase::checking);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.slurm->registered = false; }), Phase::checking);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.slurm->known = false; }), Phase::checking);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.here->unfit = "the shared path is not there"; }),
              Phase::checking);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.wanted = WantedOwner::gateway; }), Phase::handing_back);
    EXPECT_EQ(ends_in([](LendingFacts& facts) { facts.wanted = WantedOwner::unknown; }), Phase::slurm);
}

TEST(Lending, undrains_its_own_drain_and_nobody_elses) {
    LendingFacts facts = good();
    for (const std::uint64_t generation : {0U, 2U, 3U}) {
        facts.slurm = drained_by(drain_reason(generation));
        EXPECT_EQ(decide_lending(record_in(Phase::slurm), facts).effect, Effect::undrain) << generation;
    }
    for (const std::string& reason : {drain_reason(4), std::string("broken fan"), std::string()}) {
        facts.slurm = drained_by(reason);
        const LendingDecision decision = decide_lending(record_in(Phase::slurm), facts);
        EXPECT_EQ(decision.effect, Effect::none) << reason;
        ASSERT_EQ(decision.waiting.size(), 1U);
        EXPECT_NE(decision.waiting[0].find("drained in Slurm by somebody else"), std::string::npos);
    }
}

TEST(Lending, takes_up_its_lease_again_when_the_admin_changes_their_mind) {
    LendingRecord record = record_in(Phase::emptying);
    record.held = true;
    record.reclaim = Reclaim{2000, "cancel"};
    const LendingDecision decision = decide_lending(record, good());
    EXPECT_EQ(decision.next.phase, Phase::slurm);
    EXPECT_TRUE(decision.next.held);
    EXPECT_FALSE(decision.next.reclaim);
    record.held = false;
    EXPECT_NE(decide_lending(record, good()).next.phase, Phase::slurm);
}

TEST(Lending, ends_jobs_at_the_deadline_and_not_before) {
    LendingRecord record = record_in(Phase::emptying);
    record.reclaim = Reclaim{2000, "requeue"};
    LendingFacts facts = good();
    facts.wanted = WantedOwner::gateway;
    facts.leader->reclaim = record.reclaim;
    facts.slurm->idle = false;
    facts.here->jobs = {"job 12 of anna until 14:30"};
    LendingDecision decision = decide_lending(record, facts);
    EXPECT_EQ(decision.effect, Effect::none);
    EXPECT_EQ(decision.waiting, facts.here->jobs);
    facts.now = 2000;
    decision = decide_lending(record, facts);
    EXPECT_EQ(decision.effect, Effect::end_jobs);
    // What holds a GPU is no job.
    facts.here->jobs.clear();
    facts.slurm->idle = true;
    facts.here->gpu_holders = {"pid 1 (x) has /dev/nvidia0 open"};
    EXPECT_EQ(decide_lending(record, facts).effect, Effect::none);
}

TEST(Lending, learns_a_deadline_from_the_leader_and_keeps_it) {
    LendingFacts facts = good();
    facts.wanted = WantedOwner::gateway;
    facts.leader->reclaim = Reclaim{2000, "cancel"};
    const LendingDecision decision = decide_lending(record_in(Phase::emptying), facts);
    EXPECT_EQ(decision.next.phase, Phase::emptying);
    EXPECT_EQ(decision.next.reclaim, facts.leader->reclaim);
    EXPECT_EQ(decision.effect, Effect::none);
}

TEST(Lending, is_over_only_when_nothing_is_left_at_two_looks) {
    LendingRecord record = record_in(Phase::emptying);
    LendingFacts facts = good();
    facts.wanted = WantedOwner::gateway;
    LendingDecision decision = decide_lending(record, facts);
    EXPECT_EQ(decision.next.phase, Phase::emptying);
    EXPECT_TRUE(decision.next.closing);
    record = decision.next;
    EXPECT_EQ(decide_lending(record, facts).next.phase, Phase::handing_back);
    facts.here->jobs = {"job 12"};
    decision = decide_lending(record, facts);
    EXPECT_EQ(decision.next.phase, Phase::emptying);
    EXPECT_FALSE(decision.next.closing);
}

TEST(Lending, never_calls_a_node_empty_that_it_could_not_look_at) {
    LendingRecord record = record_in(Phase::emptying);
    LendingFacts facts = good();
    facts.wanted = WantedOwner::gateway;
    facts.slurm.reset();
    EXPECT_EQ(decide_lending(record, facts).next, record);
    facts.slurm = drained_by(drain_reason(3));
    facts.slurm->idle = false;
    EXPECT_EQ(decide_lending(record, facts).next, record);
    // Only where there is no slurmd can nothing start, whatever slurmctld says or doesn't.
    facts.here->slurmd_runs = false;
    facts.slurm.reset();
    EXPECT_TRUE(decide_lending(record, facts).next.closing);
}

TEST(Lending, drains_a_node_that_is_not_lent_whoever_opened_it) {
    for (const Phase phase :
         {Phase::gateway, Phase::asking, Phase::checking, Phase::handing_back, Phase::emptying}) {
        LendingFacts facts = good(phase == Phase::gateway ? "none" : "free");
        if (phase == Phase::emptying) facts.wanted = WantedOwner::gateway;
        facts.slurm->drained = false;
        facts.slurm->reason.clear();
        EXPECT_EQ(decide_lending(record_in(phase), facts).effect, Effect::drain) << text_of(phase);
        facts.slurm->kept_by_others = true;
        EXPECT_NE(decide_lending(record_in(phase), facts).effect, Effect::drain) << text_of(phase);
        facts.slurm->kept_by_others = false;
        facts.slurm->power_saving = true;
        EXPECT_EQ(decide_lending(record_in(phase), facts).effect, Effect::none) << text_of(phase);
    }
}

TEST(Lending, leaves_an_opened_node_alone_where_the_admin_switched_the_fence_off) {
    LendingRecord record = record_in(Phase::gateway);
    record.fence = false;
    LendingFacts facts = good("none");
    facts.wanted = WantedOwner::gateway;
    facts.slurm->drained = false;
    EXPECT_EQ(decide_lending(record, facts).effect, Effect::none);
}

TEST(Lending, gives_back_a_lease_that_its_record_does_not_know) {
    LendingFacts facts = good("free");
    facts.leader->generation = 8;
    facts.leader->lease = "older";
    LendingDecision decision = decide_lending(record_in(Phase::gateway), facts);
    EXPECT_EQ(decision.next.phase, Phase::handing_back);
    EXPECT_EQ(decision.next.generation, 8U);
    EXPECT_EQ(decision.next.lease, "older");
    decision = decide_lending(decision.next, facts);
    EXPECT_EQ(decision.effect, Effect::give_back);
    facts.leader->state = "none";
    EXPECT_EQ(decide_lending(decision.next, facts).next.phase, Phase::gateway);
}

TEST(Lending, tells_the_leader_even_what_it_may_never_have_heard_of) {
    // A request that is still on its way must find a later word.
    LendingFacts facts = good("none");
    facts.leader->generation = 2;
    EXPECT_EQ(decide_lending(record_in(Phase::handing_back), facts).effect, Effect::give_back);
}

TEST(Lending, gives_a_node_back_whose_lease_the_leader_has_lost) {
    LendingFacts facts = good("none");
    const LendingDecision decision = decide_lending(record_in(Phase::slurm), facts);
    EXPECT_EQ(decision.next.phase, Phase::emptying);
    EXPECT_FALSE(decision.next.held);
}

}  // namespace
}  // namespace llmgw
