// Whether the directories that enroot will use can hold containers. They are probed by a task of its own,
// since the helper sees the machine's file systems through its own restrictions, and since one that doesn't
// answer would hold it.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/path_finding.hpp"
#include "core/result.hpp"
#include "core/task_runner.hpp"

namespace llmgw::service {

// `prober` is a program that calls probe_here() for `--probe-path USE=PATH ...`: this helper itself.
// Error: the task could not be run.
Result<std::vector<PathFinding>> probe_paths(const std::vector<PathNeed>& needs, const std::string& prober,
                                             TaskRunner& runner, const std::stop_token& stop);

// The first that is unfit, as a sentence; "" if there is none.
std::string first_unfit(const std::vector<PathFinding>& findings);

// In this process: probes "USE=PATH" and prints what it finds to standard output. For main() only; exit code.
int probe_here(const std::vector<std::string>& needs);

}  // namespace llmgw::service
