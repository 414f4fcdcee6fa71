// What llmgw-slurm-node (helper/slurm-node) prints and the helper reads: a node as slurmctld has it, and
// jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/lending.hpp"
#include "core/result.hpp"

namespace llmgw {

Result<NodeInSlurm> parse_node_in_slurm(std::string_view text, const std::string& name);
std::string format_node_in_slurm(const NodeInSlurm& node, const std::string& name);

// A job on this node, as people know it.
struct SlurmJob {
    std::uint32_t id = 0;
    std::string user;
    std::int64_t ends = 0;  // at its time limit, unix time; 0: none
    bool batch = false;     // can be requeued

    bool operator==(const SlurmJob&) const = default;
};

// One line each: "ID USER ENDS batch|interactive".
Result<std::vector<SlurmJob>> parse_slurm_jobs(std::string_view text);
std::string format_slurm_job(const SlurmJob& job);

}  // namespace llmgw
