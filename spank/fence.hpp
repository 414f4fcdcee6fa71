// The fence: on a node that is not lent to Slurm no job starts, whoever resumed it. The record of lending
// (core/lending_record.hpp) says whether it is; without one this node takes no part, and there is no fence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "guard.hpp"

namespace llmgw::guard {

// Why no job may start here; nothing: it may. A record that can't be read is a reason.
std::optional<std::string> fenced(const Arguments& arguments);

// The same, but a job that is fenced is held back first until the helper has sent it away: the node is
// drained by us then, and the job in the queue again, so that Slurm neither drains the node as broken nor
// calls the job failed.
std::optional<std::string> held_at_fence(const Arguments& arguments, std::uint32_t job);

// slurm_spank_job_prolog: returns, or ends this process, which is Slurm's own for the prolog, with exit
// code 1.
void stop_at_fence(const Arguments& arguments);

}  // namespace llmgw::guard
