// One node of Slurm's: asked about, drained, undrained.
#pragma once

#include <cstdint>
#include <string>

#include "core/lending.hpp"
#include "core/result.hpp"

namespace llmgw::slurm_node {

// One question about one node, which locks little in slurmctld (proc_req.c, 22.05:1862); an answer about
// another node is an error.
Result<NodeInSlurm> look_at(const std::string& name);

// Only a node that is open: a reason that is there would be overwritten (node_mgr.c, 22.05:1569).
Result<void> drain(const std::string& name, std::uint64_t generation);

// UNDRAIN and not RESUME, which would clear more than our drain. conflict: the drain is not ours, or a later
// one.
Result<void> undrain(const std::string& name, std::uint64_t generation);

}  // namespace llmgw::slurm_node
