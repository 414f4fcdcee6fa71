// The fence: on a node that is not lent to Slurm no job starts, whoever resumed it. The record of lending
// (core/lending_record.hpp) says whether it is; without one this node takes no part, and there is no fence.
#pragma once

#include <optional>
#include <string>

#include "guard.hpp"

namespace llmgw::guard {

// Why no job may start here; nothing: it may. A record that can't be read is a reason.
std::optional<std::string> fenced(const Arguments& arguments);

// slurm_spank_job_prolog: returns, or holds the job back until the helper has sent it away, and ends this
// process, which is Slurm's own for the prolog, with exit code 1. By then the node is drained by us and the
// job is in the queue again, so that Slurm neither drains it as broken nor holds the job.
void stop_at_fence(const Arguments& arguments);

}  // namespace llmgw::guard
