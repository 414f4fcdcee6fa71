// Puts a login into a job of its user, and sees that it stays there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/adopt_options.hpp"
#include "core/cgroup_place.hpp"
#include "core/extern_step.hpp"
#include "core/result.hpp"
#include "posix/slurm_library.hpp"

namespace llmgw::login {

struct Login {
    uid_t user = 0;
    pid_t process = 0;                    // the one that becomes, or starts, what the user gets
    std::optional<std::uint32_t> wanted;  // the job that the user named
};

struct Adoption {
    ExternStep step;
    pid_t slurmstepd = 0;
    StepPlace place;
    std::vector<std::string> held;  // the hierarchies into which Slurm put the login
    std::vector<JobNamespace> namespaces;
};

// Whether logins are Slurm's business on this host at all, and where its steps' sockets are.
struct Host {
    bool node = false;
    std::vector<std::string> spool;
};
Host this_host(const AdoptOptions& options);

// Into the newest job of the user's here that takes it, or the one that they named; waits for a step that
// isn't there yet. The error's message is for the user.
Result<Adoption> adopt(const AdoptOptions& options, const Host& host, const Login& login);

// What the process has slipped out of since ("cpuset, freezer"), or why that can't be told; "": it is where
// it was put, and the job's step is still there.
std::string escaped(const Adoption& adoption, pid_t process);

// Into the same step again.
Result<void> adopt_again(const AdoptOptions& options, const Login& login, Adoption& adoption);

// This process into the namespaces that Slurm made for the job.
Result<void> join_namespaces(const Adoption& adoption);

}  // namespace llmgw::login
