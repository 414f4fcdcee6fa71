// Asks the slurmstepds of many steps at once whose job they are, and lets one take a login. Only inside a
// process of its own (stepd_worker.hpp): its threads may wait for ever.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/extern_step.hpp"
#include "core/result.hpp"
#include "posix/slurm_library.hpp"

namespace llmgw {

enum class StepAnswer {
    none,         // not asked yet, or being asked
    unreachable,  // it ended, or is too young or too old to talk to
    foreign,      // somebody else's
    owned,
    silent,  // its slurmstepd hangs
};

class StepSearch : public std::enable_shared_from_this<StepSearch> {
  public:
    StepSearch(SlurmLibrary library, std::vector<ExternStep> steps, uid_t owner);

    // Begins to ask; answers come in the order of the steps, more or less.
    void begin();
    // Waits for one step's, but not for long.
    StepAnswer answer_of(std::size_t step);
    // As the socket's other end is known to the kernel; of an owned step.
    pid_t slurmstepd_of(std::size_t step);

    // For an owned step.
    Result<void> adopt(std::size_t step, pid_t process);
    Result<std::vector<JobNamespace>> namespaces(std::size_t step);

    // Answers so far.
    std::vector<StepAnswer> answers();

  private:
    struct Probe {
        StepAnswer answer = StepAnswer::none;
        bool begun = false;
        std::chrono::steady_clock::time_point since;
        SlurmLibrary::Connection connection;
        pid_t slurmstepd = 0;
    };
    void start_thread();
    void work();
    [[nodiscard]] Probe ask(const ExternStep& step) const;

    SlurmLibrary library_;
    std::vector<ExternStep> steps_;
    uid_t owner_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Probe> probes_;
    std::size_t next_ = 0;
};

}  // namespace llmgw
