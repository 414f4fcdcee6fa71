// Tasks as children, where no systemd is. Such a child has a session of its own and survives this process.
//
// What only systemd can do is done as well as a child can: `no_network`, `read_only` and `private_tmp` by
// namespaces where this process is root (no private /tmp where the task's program, directory or a writable
// path is below it); `memory_bytes` counts for each process by itself; a process that left the task's process
// group survives it, the deadline too; and a task that an earlier helper left behind isn't known.
#pragma once

#include "core/task_runner.hpp"

namespace llmgw {

class ChildRunner final : public TaskRunner {
  public:
    Result<TaskResult> run(const Task& task, const std::stop_token& stop) override;
};

}  // namespace llmgw
