// Whether slurmctld takes this machine's credentials, and whether its clock is right: what munge needs, and
// what nothing that fails for lack of it says. Pure; service/contact_facts.cpp asks.
#pragma once

#include <string_view>

#include "core/cluster_facts.hpp"
#include "core/plan.hpp"

namespace llmgw {

// Of what `scontrol` printed when it asked slurmctld for something. Slurm 22.05 and 24.11: who is not
// believed gets no answer ("Zero Bytes were transmitted or received"), and the reason is only in slurmctld's
// log.
SlurmContact read_contact(bool success, std::string_view output);

// Advisory, since jobs don't mind as long as all clocks are wrong alike.
Step clock_step(const ClusterFacts& facts);

// Of a node; `controller` is named where it is the place to look at.
Step contact_step(const ClusterFacts& facts, const std::string& controller);

}  // namespace llmgw
