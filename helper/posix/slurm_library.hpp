// libslurm's calls to slurmstepd, loaded at run time from the libslurm that is there: a library that is gone
// or too new is a sentence, and no reason for a process not to start. The calls are in no public header of
// Slurm's; what differs between versions is the step's number: 12 bytes until 24.05, 24 from 24.11 on
// (slurm.h, slurm_step_id_t).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/extern_step.hpp"
#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

struct JobNamespace {
    int type = 0;  // of setns(2); 0: whatever the descriptor is
    Descriptor file;
};

// Load it only in a process of its own (stepd_worker.hpp): some versions end the process when they fail.
class SlurmLibrary {
  public:
    // `path` names one; empty: the newest that is there and known here. Errors: missing, invalid.
    static Result<SlurmLibrary> load(const std::string& path);

    // A connection to the step's slurmstepd and its version of the protocol.
    struct Connection {
        Descriptor file;
        std::uint16_t protocol = 0;
    };
    [[nodiscard]] Result<Connection> connect(const ExternStep& step) const;
    [[nodiscard]] Result<uid_t> owner(const Connection& connection) const;
    // Into every cgroup that Slurm uses, with what else Slurm does for a task.
    [[nodiscard]] Result<void> adopt(const Connection& connection, pid_t process) const;
    // None where Slurm made none for the job.
    [[nodiscard]] Result<std::vector<JobNamespace>> namespaces(const Connection& connection) const;

    // Whether Slurm keeps a process in each extern step for as long as its job runs.
    [[nodiscard]] bool keeps_sleeper() const noexcept;

    [[nodiscard]] unsigned api() const noexcept { return api_; }

  private:
    SlurmLibrary() = default;

    unsigned api_ = 0;
    int (*connect_)(const char*, const char*, void*, std::uint16_t*) = nullptr;
    uid_t (*get_uid_)(int, std::uint16_t) = nullptr;
    int (*add_extern_pid_)(int, std::uint16_t, pid_t) = nullptr;
    int (*get_namespace_fd_)(int, std::uint16_t) = nullptr;
    int (*get_namespace_fds_)(int, void*, std::uint16_t) = nullptr;  // 25.11 and later
    void* (*list_create_)(void (*)(void*)) = nullptr;
    void* (*list_pop_)(void*) = nullptr;
};

}  // namespace llmgw
