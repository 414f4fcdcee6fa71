// The extern steps on this machine, from the sockets of their slurmstepds: no slurmd or slurmctld is asked,
// and no host name matters.
#pragma once

#include <string>
#include <vector>

#include "core/extern_step.hpp"
#include "core/login_verdict.hpp"
#include "core/slurm_host.hpp"

namespace llmgw {

struct SlurmPlaces {
    std::vector<std::string> spool;  // patterns; from slurm.conf if empty
    std::vector<std::string> conf = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
};

struct SlurmHere {
    HostFacts host;
    std::vector<std::string> spool;  // patterns
};

// What slurm.conf says about the host of this name. A missing file is left out.
SlurmHere read_slurm_here(const SlurmPlaces& places, const std::string& host);

struct StepsHere {
    std::vector<ExternStep> extern_steps;  // newest first
    bool without_extern = false;           // steps of other kinds only
};

StepsHere find_extern_steps(const std::vector<std::string>& spool);

std::string host_name();

}  // namespace llmgw
