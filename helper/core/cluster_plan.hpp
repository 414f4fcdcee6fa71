// The steps that make this machine part of the cluster in the settings, or no part of one any more: pure.
// Joined to the others in plan.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace llmgw {

namespace cluster {

inline constexpr const char* slurm_conf = "/etc/slurm/slurm.conf";
inline constexpr const char* cgroup_conf = "/etc/slurm/cgroup.conf";
inline constexpr const char* gres_conf = "/etc/slurm/gres.conf";
inline constexpr const char* munge_unit = "munge.service";
inline constexpr const char* slurmctld_unit = "slurmctld.service";
inline constexpr const char* slurmd_unit = "slurmd.service";

// The file without which a unit of the cluster's doesn't start, whoever starts it: Debian's packages start
// theirs when they are installed.
std::string permission(const std::string& state_dir, const std::string& unit);
// UNIT.d/llmgw.conf.
std::string dropin_path(const std::string& unit);

}  // namespace cluster

struct ClusterSteps {
    Plan before;  // what containers need: Slurm
    Plan after;   // what may take as long as jobs run
};

// Nothing at all where facts.cluster isn't known. Where the site runs Slurm itself, only what it has to add.
ClusterSteps plan_cluster(const ResolvedSettings& settings, const SetupFacts& facts);

}  // namespace llmgw
