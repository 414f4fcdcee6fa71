// What a machine's Slurm is like, as far as it is ours to run: the input of cluster_plan.hpp. Gathered by
// service/cluster_facts.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/machine_files.hpp"
#include "core/result.hpp"
#include "core/slurm_nodes.hpp"

namespace llmgw {

struct UnitFacts {
    bool enabled = false;
    bool active = false;  // or on its way, or waiting for its next attempt
    bool running = false;
    bool needs_reload = false;  // systemd has not read its files since they changed
    std::int64_t since = 0;     // running since then, unix time
    bool failing = false;       // it ended with a failure, and waits for its next attempt

    bool operator==(const UnitFacts&) const = default;
};

// What came of asking slurmctld for something with this machine's credentials.
struct SlurmContact {
    enum class State {
        unasked,
        answers,
        refuses,  // it hung up on us: key or clock
        silent,   // it could not be reached, or not in time
    };
    State state = State::unasked;
    std::string said;  // of silent

    bool operator==(const SlurmContact&) const = default;
};

enum class MungeKey {
    right,
    to_put,   // none, or another one that is ours to replace
    foreign,  // munge was here before us, with a key of its own
    unknown,  // the leader doesn't answer, and we never put one here
};

struct ClusterFacts {
    bool ours = false;      // we have begun to set Slurm up here
    std::string site;       // why Slurm here is the site's own; empty: it isn't
    std::string site_conf;  // its slurm.conf, where this machine has it
    std::string state_dir;  // where the files are without which the units don't start

    std::map<std::string, MachineFile> files;  // of ours, those that are in place
    MungeKey munge_key = MungeKey::unknown;
    std::string munge_problem;                // of foreign and unknown
    bool munge_stale = false;                 // munged runs with the key that was there before
    bool munge_ours = false;                  // we installed it
    std::optional<std::int64_t> clock_ahead;  // of the leader's, in seconds; behind: negative
    SlurmContact contact;                     // of a node
    UnitFacts munge;
    UnitFacts slurmctld;
    UnitFacts slurmd;

    std::string told;       // the configuration that slurmctld read last, as SlurmConfig::text()
    std::string additions;  // the site's own lines for slurm.conf
    Result<std::vector<SlurmNode>> nodes = Error{};  // as slurmctld has them
    std::vector<std::string> steps;                  // that run on this machine: "4711.0"
};

}  // namespace llmgw
