// Asking slurmstepds, in a process of its own: libslurm may end the process it is in, start threads, change
// signals or wait for ever on a slurmstepd that hangs, and none of that may happen to sshd. The process holds
// no descriptor and no variable of the caller's, and ends with it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/extern_step.hpp"
#include "core/result.hpp"
#include "posix/descriptor.hpp"
#include "posix/slurm_library.hpp"

namespace llmgw {

// A job of the user's that runs here.
struct OwnedStep {
    ExternStep step;
    pid_t slurmstepd = 0;  // as the kernel knows the socket's other end
};

class StepdWorker {
  public:
    // To look through `steps` in that order for those of `owner`.
    StepdWorker(std::string library, std::vector<ExternStep> steps, uid_t owner);
    ~StepdWorker();
    StepdWorker(const StepdWorker&) = delete;
    StepdWorker& operator=(const StepdWorker&) = delete;

    // The next of the user's steps; nothing: there are no more. A step that ended meanwhile is passed over,
    // one whose slurmstepd hangs is killed no more than it: it is passed over, too, and noted in silent().
    // Errors: missing or invalid (libslurm), timeout (of all together), internal.
    Result<std::optional<OwnedStep>> next();
    // Puts a process into the step that next() gave last.
    Result<void> adopt(pid_t process);
    // The namespaces that Slurm made for that step's job.
    Result<std::vector<JobNamespace>> namespaces();

    // Jobs whose slurmstepd did not answer.
    [[nodiscard]] const std::vector<std::uint32_t>& silent() const noexcept { return silent_; }

  private:
    Result<void> start();
    void stop() noexcept;
    void give_up(std::size_t at);

    std::string library_;
    std::vector<ExternStep> steps_;
    uid_t owner_;
    std::size_t from_ = 0;     // the first step that isn't answered for yet
    std::size_t current_ = 0;  // the one that next() gave
    pid_t process_ = -1;
    Descriptor channel_;
    std::vector<std::uint32_t> silent_;
    long long deadline_ms_;
};

}  // namespace llmgw
