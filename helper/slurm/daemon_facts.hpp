// The slurmd that runs on this machine: what it reads, since when it runs, which steps run under it. From
// /proc and files alone: nothing is asked over the network, and no socket of a step is connected to.
#pragma once

#include <string>

#include "core/slurmd_view.hpp"
#include "slurm/plugstack_files.hpp"

namespace llmgw::slurm {

struct DaemonPlaces {
    std::string machine;  // the node's name unless slurmd was started with -N
    std::string proc = "/proc";
    std::string slurm_conf = "/etc/slurm/slurm.conf";  // Slurm's built-in default
    std::string fetched = "/run/slurm/conf";           // link to the copy of a configless slurmd
    std::string plugstack;                             // used instead of what slurmd reads, if it isn't empty
};

// Without a slurmd that runs: what one would read. What can't be read is left as Slurm's defaults have it.
SlurmdFacts read_slurmd(const DaemonPlaces& places);

// Where this machine's stack is edited: what slurmd and its steps read.
StackPlace stack_place(const SlurmdFacts& slurmd);

}  // namespace llmgw::slurm
