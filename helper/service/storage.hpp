// The shared path of this machine: looks at it, mounts or exports it, and takes that back
// (core/storage_plan.hpp).
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/storage_plan.hpp"
#include "core/task_runner.hpp"
#include "posix/shared_probe.hpp"
#include "service/ledger_store.hpp"

namespace llmgw::service {

struct StorageOptions {
    std::string state_dir = "/var/lib/llmgw-slurm";
    std::string machine;
    std::string program;  // this helper, which looks at the path in a process of its own
};

class Storage {
  public:
    // `runner` must outlive it.
    Storage(const StorageOptions& options, TaskRunner& runner);

    StorageFacts look(const ResolvedSettings& settings);
    // Only the path itself, from any thread; nothing to complain about where there is none in the settings.
    std::string problem(const ResolvedSettings& settings);

    // Writes the wanted files and takes back others of ours, whose mounts end first; systemd is told.
    Result<void> write(const std::vector<MachineFile>& files, const std::vector<std::string>& unwanted,
                       const std::stop_token& stop);
    // The mount point is made where it is missing, root's and such that nothing can be written into it.
    Result<void> mount(const std::string& path, const std::stop_token& stop);
    Result<void> export_path(const std::string& path, const std::stop_token& stop);

    Result<std::vector<std::string>> remove(const std::stop_token& stop);
    [[nodiscard]] bool did_anything() const;

  private:
    Result<std::string> run(const std::string& what, std::vector<std::string> argv,
                            const std::stop_token& stop);
    Result<void> take_back(const std::string& file, std::vector<std::string>& left,
                           const std::stop_token& stop);

    const StorageOptions options_;
    TaskRunner& runner_;
    const LedgerStore ledger_;
    SharedProbe probe_;
};

}  // namespace llmgw::service
