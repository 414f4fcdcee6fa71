// Whether Slurm takes a configuration, before it comes to its place: a slurmctld of its own starts with it,
// in a directory and on ports of its own. (Of 22.05 to 26.05 as packaged none has an option for that.)
#pragma once

#include <string>

#include "core/result.hpp"
#include "core/slurm_config.hpp"
#include "core/task_runner.hpp"

namespace llmgw::service {

// `program` calls try_config_here(). `directory` is made and removed. Error (invalid): what slurmctld says.
Result<void> try_slurm_config(const SlurmConfig& config, const std::string& program,
                              const std::string& directory, TaskRunner& runner, const std::stop_token& stop);

// In the task: starts slurmctld with DIRECTORY/slurm.conf until it serves or ends, prints what it said; the
// process's exit code.
int try_config_here(const std::string& directory, const std::string& slurmctld = "/usr/sbin/slurmctld");

}  // namespace llmgw::service
