// The gate: one decision for one job descriptor, submitted or modified.
#pragma once

#include "slurmctld_api.hpp"

namespace llmgw::gate {

// Called once before the first job, and at the end. The directory of the gate file comes from slurmctld's own
// environment (LLMGW_SLURM_RUN_DIR), which only who starts it can set; else it is /run/llmgw-slurm.
void start();
void stop() noexcept;

enum class Change { submit, modify };

// SLURM_SUCCESS, or ESLURM_SUBMISSIONS_DISABLED. `message`, where not null, receives memory of slurm_xstrdup
// for the user: the refusal, or a warning beside SLURM_SUCCESS. What a plugin before this one in
// JobSubmitPlugins left there stays in front of it.
int check(const job_desc_msg_t* job, Change change, char** message);

}  // namespace llmgw::gate
