// Port: runs one program that changes the machine or takes long, apart from the helper: on a machine with
// systemd in a transient unit of its own (bus/unit_runner.hpp), so that a helper that ends or is killed takes
// nothing with it and the helper's own restrictions don't bind it; elsewhere as a child
// (posix/child_runner.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

// The user and the group of what runs without rights: nobody and nogroup, on every distribution.
inline constexpr unsigned nobody = 65534;

struct Task {
    std::string unit;                      // "llmgw-slurm-packages": the transient unit is UNIT.service
    std::string description;               // for systemctl status: "llmgw-slurm: installs enroot"
    std::vector<std::string> argv;         // argv[0] is an absolute path; no shell
    std::vector<std::string> environment;  // "NAME=VALUE", all of it
    std::string directory = "/";
    std::chrono::seconds deadline{3600};   // then it is killed with everything it started
    std::size_t most_output = 256 * 1024;  // of both outputs together; the first bytes go, the last ones stay
    std::function<void(std::string_view)>
        on_line;  // each line of output as it comes, in the calling thread; may be empty

    // What it may do. Nothing set: everything root may.
    bool unprivileged = false;  // as nobody, no new privileges unless keep_capabilities
    bool no_network = false;
    bool read_only = false;    // the whole file system but `writable` (and a /tmp of its own)
    bool private_tmp = false;  // without read_only too
    std::vector<std::string> writable;
    std::uint64_t memory_bytes = 0;  // 0: no limit
    bool keep_capabilities =
        false;  // with unprivileged: file capabilities and setuid programs work (enroot+caps)
};

struct TaskResult {
    int exit_code = 0;  // 128 + signal when a signal ended it
    std::string output;

    [[nodiscard]] bool success() const noexcept { return exit_code == 0; }
};

class TaskRunner {
  public:
    virtual ~TaskRunner() = default;
    // Waits until it ended. A unit of that name that still runs, of a helper that is gone, is waited for
    // first. Standard input is empty. Errors: missing (no such program), timeout (the deadline; it is dead),
    // unavailable
    // (`stop` was requested: the call returns at once, the task goes on; or systemd doesn't answer),
    // internal.
    virtual Result<TaskResult> run(const Task& task, const std::stop_token& stop) = 0;
};

}  // namespace llmgw
