// Jobs of this node's, by number: step sockets on the machine say which there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/slurm_node_text.hpp"

namespace llmgw::slurm_node {

// Of these jobs those that slurmctld still has.
Result<std::vector<SlurmJob>> jobs_by_number(const std::vector<std::uint32_t>& numbers);
// Of a node all that have not ended. It asks for all jobs of the cluster: not for every day.
Result<std::vector<SlurmJob>> jobs_on(const std::string& node);

// Tells the job's user, then puts a batch job back in the queue (without a hold) if `requeue`; any other job,
// or one that can't be requeued, is cancelled. A job that has ended is no error.
Result<void> end_job(std::uint32_t number, bool requeue, const std::string& message);

}  // namespace llmgw::slurm_node
