// One step of a package manager that changes the machine: run when nobody else is at work, and again when
// somebody else was faster.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "core/task_runner.hpp"
#include "packages/locks.hpp"
#include "packages/manager.hpp"

namespace llmgw::packages {

// All steps have this unit, so that a helper waits for the step of an earlier helper that was killed.
inline constexpr const char* transaction_unit = "llmgw-slurm-packages";

struct Locks {
    Held held;
    std::function<bool(const std::string& output)>
        in_the_way;  // whether a step failed for a lock and did nothing
    std::chrono::seconds patience{900};
};

// Makes the step; `left` is how long it may wait for locks by itself.
using MakeTask = std::function<Task(std::chrono::seconds left)>;

// The step's own failure is no error here. Errors: timeout (a lock was held too long; nothing was changed),
// and those of TaskRunner::run.
Result<TaskResult> run_when_free(TaskRunner& runner, const MakeTask& make, const Locks& locks,
                                 const Progress& progress, const std::stop_token& stop);

}  // namespace llmgw::packages
