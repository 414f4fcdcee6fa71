#include "core/lending.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace llmgw {
namespace {

constexpr std::string_view lease_begin = " [lease ";

using Phase = LendingPhase;
using Effect = LendingEffect;

// One decision in the making.
struct Case {
    const LendingRecord& record;
    const LendingFacts& facts;

    [[nodiscard]] LendingDecision wait(std::string text) const {
        return {record, Effect::none, {std::move(text)}};
    }
    [[nodiscard]] LendingDecision wait(std::vector<std::string> texts) const {
        return {record, Effect::none, std::move(texts)};
    }
    [[nodiscard]] LendingDecision act(Effect effect, std::string text) const {
        return {record, effect, {std::move(text)}};
    }
    [[nodiscard]] LendingDecision rest() const { return {record, Effect::none, {}}; }
    [[nodiscard]] LendingDecision become(LendingRecord next) const {
        return {std::move(next), Effect::none, {}};
    }
    [[nodiscard]] LendingDecision become(Phase phase) const { return become(in(phase)); }

    [[nodiscard]] LendingRecord in(Phase phase) const {
        LendingRecord next = record;
        next.phase = phase;
        next.since = facts.now;
        next.closing = false;
        next.held = (phase == Phase::slurm || phase == Phase::emptying) && record.held;
        if (phase != Phase::emptying) next.reclaim.reset();
        return next;
    }
    [[nodiscard]] LendingRecord with_lease(LendingRecord next, std::uint64_t generation,
                                           const std::string& lease) const {
        next.generation = generation;
        next.lease = lease;
        return next;
    }
    [[nodiscard]] bool leader_has_ours() const {
        return facts.leader && facts.leader->held() && facts.leader->generation == record.generation &&
               facts.leader->lease == record.lease;
    }
    // In all phases but Slurm's, unless an admin wants it otherwise.
    [[nodiscard]] bool must_drain() const { return record.fence && facts.slurm && facts.slurm->open(); }
    [[nodiscard]] LendingDecision drain() const {
        if (facts.slurm->power_saving)
            return wait("Slurm's power saving has this node; it is drained when that is over");
        return act(Effect::drain, "Slurm could start jobs here; it is being drained");
    }
};

// A lease that the leader has and this node's record doesn't: nothing of Slurm's runs here, so it is given
// back.
LendingDecision adopt(const Case& at) {
    return at.become(
        at.with_lease(at.in(Phase::handing_back), at.facts.leader->generation, at.facts.leader->lease));
}

LendingDecision gateway(const Case& at) {
    if (at.facts.leader && at.facts.leader->held()) return adopt(at);
    if (at.must_drain()) return at.drain();
    if (at.facts.wanted != WantedOwner::slurm) return at.rest();
    if (!at.facts.leader) return at.wait("llmgw's leader does not answer");
    const std::uint64_t last = std::max(at.record.generation, at.facts.leader->generation);
    return at.become(at.with_lease(at.in(Phase::asking), last + 1, at.facts.fresh_lease));
}

LendingDecision asking(const Case& at) {
    if (at.facts.wanted == WantedOwner::gateway) return at.become(Phase::handing_back);
    if (at.must_drain()) return at.drain();
    const std::optional<LeaseAnswer>& leader = at.facts.leader;
    if (!leader) return at.act(Effect::ask, "llmgw's leader has not answered yet");
    if (at.leader_has_ours()) {
        if (leader->state == "free") return at.become(Phase::checking);
        std::string text = "llmgw drains its replicas here, " + std::to_string(leader->replicas) + " left";
        if (!leader->reason.empty()) text += ": " + leader->reason;
        return at.wait(std::move(text));
    }
    if (leader->held() && leader->generation >= at.record.generation) return adopt(at);
    if (leader->generation < at.record.generation)
        return at.act(Effect::ask, "llmgw is being asked for this node");
    if (leader->state == "refused" && leader->generation == at.record.generation && !at.facts.ask_again)
        return at.wait("llmgw does not give this node now: " + leader->reason);
    // Refused long enough, or given back by somebody: with a new lease, since no old one counts any more.
    return at.become(at.with_lease(at.in(Phase::asking), leader->generation + 1, at.facts.fresh_lease));
}

LendingDecision checking(const Case& at) {
    if (at.facts.wanted == WantedOwner::gateway) return at.become(Phase::handing_back);
    if (at.facts.leader && !at.leader_has_ours()) return at.become(Phase::handing_back);
    if (at.facts.leader && at.facts.leader->state != "free") return at.become(Phase::asking);
    if (at.must_drain()) return at.drain();
    if (!at.facts.here) return at.wait("this machine could not be looked at");
    if (!at.facts.here->gpu_holders.empty()) return at.wait(at.facts.here->gpu_holders);
    if (!at.facts.here->unfit.empty()) return at.wait(at.facts.here->unfit);
    if (!at.facts.slurm) return at.wait("slurmctld does not answer");
    if (!at.facts.slurm->known) return at.wait("slurmctld knows no node of this name");
    if (!at.facts.slurm->registered)
        return at.wait("slurmd of this node has not registered with slurmctld, or does not answer");
    LendingRecord next = at.in(Phase::slurm);
    next.held = true;
    return at.become(std::move(next));
}

LendingDecision slurm(const Case& at) {
    if (at.facts.wanted == WantedOwner::gateway) {
        return at.become(Phase::emptying);
    }
    if (at.facts.leader && !at.leader_has_ours()) {
        LendingRecord next = at.in(Phase::emptying);
        next.held = false;
        return at.become(std::move(next));
    }
    if (!at.facts.slurm) return at.wait("slurmctld does not answer");
    if (!at.facts.slurm->drained) return at.rest();
    const std::optional<std::uint64_t> ours = generation_of_reason(at.facts.slurm->reason);
    if (!ours || *ours > at.record.generation) {
        const std::string& why = at.facts.slurm->reason;
        return at.wait("drained in Slurm by somebody else" + (why.empty() ? "" : ": " + why));
    }
    if (!at.facts.here) return at.wait("this machine could not be looked at");
    if (!at.facts.here->unfit.empty()) return at.wait(at.facts.here->unfit);
    return at.act(Effect::undrain, "it is being undrained in Slurm");
}

// What is still here of Slurm's or holds a GPU; unknown counts, too.
std::vector<std::string> left_behind(const LendingFacts& facts) {
    if (!facts.here) return {"this machine could not be looked at"};
    std::vector<std::string> left = facts.here->jobs;
    // Without a slurmd nothing can start here, whatever slurmctld says.
    if (facts.slurm ? facts.slurm->known && facts.slurm->open() : facts.here->slurmd_runs)
        left.emplace_back(facts.slurm ? "Slurm could start jobs here" : "slurmctld does not answer");
    if (left.empty() && facts.slurm && facts.slurm->known && !facts.slurm->idle && facts.here->slurmd_runs)
        left.emplace_back("Slurm does not call this node idle yet");
    left.insert(left.end(), facts.here->gpu_holders.begin(), facts.here->gpu_holders.end());
    return left;
}

LendingDecision emptying(const Case& at) {
    const std::optional<LeaseAnswer>& leader = at.facts.leader;
    if (at.facts.wanted == WantedOwner::slurm && at.record.held && (!leader || at.leader_has_ours()))
        return at.become(Phase::slurm);
    if (leader && leader->reclaim != at.record.reclaim) {
        LendingRecord next = at.record;
        next.reclaim = leader->reclaim;
        return at.become(std::move(next));
    }
    if (at.facts.slurm && at.facts.slurm->open()) return at.drain();
    const std::vector<std::string> left = left_behind(at.facts);
    LendingRecord next = at.record;
    if (!left.empty() && at.record.closing) {
        next.closing = false;
        return at.become(std::move(next));
    }
    if (!left.empty()) {
        const bool late = at.record.reclaim && at.facts.now >= at.record.reclaim->deadline;
        const bool jobs =
            at.facts.here && !(at.facts.here->jobs.empty() && at.facts.slurm && at.facts.slurm->idle);
        return {at.record, late && jobs ? Effect::end_jobs : Effect::none, left};
    }
    // The fence is closed before the last look, so that nothing can come between that and the end.
    if (!at.record.closing) {
        next.closing = true;
        return at.become(std::move(next));
    }
    return at.become(Phase::handing_back);
}

LendingDecision handing_back(const Case& at) {
    if (at.must_drain()) return at.drain();
    const std::optional<LeaseAnswer>& leader = at.facts.leader;
    if (leader && leader->held() && leader->generation >= at.record.generation && !at.leader_has_ours())
        return adopt(at);
    if (leader && !leader->held() && leader->generation >= at.record.generation)
        return at.become(Phase::gateway);
    // Before any lease there is nothing to give back, but somebody may have one.
    if (at.record.generation == 0) return at.wait("llmgw's leader does not answer");
    return at.act(Effect::give_back, "llmgw's leader is being told that the node is its own again");
}

}  // namespace

std::string drain_reason(std::uint64_t generation) {
    std::string reason(our_drain);
    if (generation > 0) reason += std::string(lease_begin) + std::to_string(generation) + "]";
    return reason;
}

std::optional<std::uint64_t> generation_of_reason(std::string_view reason) {
    if (reason == our_drain) return 0;
    const std::size_t digits = our_drain.size() + lease_begin.size();
    if (reason.size() <= digits) return std::nullopt;
    std::uint64_t generation = 0;
    std::from_chars(reason.data() + digits, reason.data() + reason.size(), generation);
    if (generation == 0 || reason != drain_reason(generation)) return std::nullopt;
    return generation;
}

LendingDecision decide_lending(const LendingRecord& record, const LendingFacts& facts) {
    const Case at{record, facts};
    switch (record.phase) {
        case Phase::gateway:
            return gateway(at);
        case Phase::asking:
            return asking(at);
        case Phase::checking:
            return checking(at);
        case Phase::slurm:
            return slurm(at);
        case Phase::emptying:
            return emptying(at);
        case Phase::handing_back:
            return handing_back(at);
    }
    return at.rest();
}

}  // namespace llmgw
