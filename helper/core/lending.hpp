// This node's side of lending, pure: what is known now -> what to write down, and what to do then. Rule: a
// GPU has one owner, whatever is lost, late, repeated, restarted or done by hand
// (tests/unit/core/lending_model_test explores all of it).
//
// Who calls it: gather facts, decide; another record than before is written down (durably) and the facts are
// gathered anew; only then is an effect carried out, and the facts are gathered anew again. A fact that isn't
// there is unknown, which is never good news.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lease.hpp"
#include "core/lending_record.hpp"

namespace llmgw {

// The reason that our drains have in Slurm, from before there was a lease, and with its generation.
inline constexpr std::string_view our_drain = "llmgw: not lent to Slurm";
std::string drain_reason(std::uint64_t generation);
// The generation of a reason that is exactly one of ours.
std::optional<std::uint64_t> generation_of_reason(std::string_view reason);
// Sent with UNDRAIN: Slurm 24.11 without accounting keeps the reason, and a later drain of its own would look
// like ours.
inline constexpr std::string_view undrain_reason = "llmgw: lent to Slurm";

enum class WantedOwner { unknown, gateway, slurm };

// slurmctld's answer for exactly this node.
struct NodeInSlurm {
    bool known = true;            // there is a node of this name
    bool drained = false;         // the flag DRAIN
    bool kept_by_others = false;  // DOWN or FAIL, and not for a passing reason of Slurm's own
    bool idle = false;            // base state IDLE, nothing allocated and nothing completing
    bool registered = false;      // its slurmd has registered and answers
    bool power_saving = false;  // on its way up or down; a drain would end its jobs (node_mgr.c, 22.05:1742)
    std::string reason;

    bool operator==(const NodeInSlurm&) const = default;
    // A job could start here without anybody doing anything first.
    [[nodiscard]] bool open() const { return known && !drained && !kept_by_others; }
};

// What this machine itself shows.
struct NodeHere {
    bool slurmd_runs = true;
    std::vector<std::string> jobs;  // whose steps are here, suspended ones too: "job 12 of anna until 14:30"
    std::vector<std::string> gpu_holders;  // "pid 4711 (python3) has /dev/nvidia0 open"
    std::string unfit;  // why Slurm can't have it now (shared path, munge, clock); empty: it can

    bool operator==(const NodeHere&) const = default;
};

struct LendingFacts {
    WantedOwner wanted = WantedOwner::unknown;
    std::optional<LeaseAnswer> leader;
    std::optional<NodeInSlurm> slurm;
    std::optional<NodeHere> here;
    std::int64_t now = 0;
    std::string fresh_lease;  // an id that was never used
    bool ask_again = false;   // it is time to repeat a request that was refused
};

enum class LendingEffect {
    none,
    ask,        // POST the record's lease
    give_back,  // DELETE it
    drain,      // with drain_reason(record.generation)
    undrain,    // only if the drain's reason is ours and no later one
    end_jobs,   // as record.reclaim says
};

struct LendingDecision {
    LendingRecord next;  // another one than before: no effect yet
    LendingEffect effect = LendingEffect::none;
    std::vector<std::string> waiting;  // for people: what it waits for

    bool operator==(const LendingDecision&) const = default;
};

// Total: there is an answer for every record and all facts.
LendingDecision decide_lending(const LendingRecord& record, const LendingFacts& facts);

}  // namespace llmgw
