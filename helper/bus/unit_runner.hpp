// Tasks as transient units of systemd. The unit's output goes to a file without a name and not to a pipe, and
// nothing of it hangs on this process: a helper that is killed leaves a package manager running undisturbed,
// and the next helper waits for the unit.
#pragma once

#include <memory>
#include <string>

#include "core/task_runner.hpp"

namespace llmgw::bus {

class UnitRunner final : public TaskRunner {
  public:
    // `bus_address` empty: the system bus. Each run() has a connection of its own, in its thread.
    explicit UnitRunner(std::string bus_address) : bus_address_(std::move(bus_address)) {}
    Result<TaskResult> run(const Task& task, const std::stop_token& stop) override;

  private:
    std::string bus_address_;
};

// Units, where systemd runs this machine and its manager is on that bus; else children.
std::unique_ptr<TaskRunner> best_runner(const std::string& bus_address);

}  // namespace llmgw::bus
