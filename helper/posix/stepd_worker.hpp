// Puts a login into a job, in a process of its own: libslurm may end the process it is in, start threads,
// change signals or wait for ever on a slurmstepd that hangs, and none of that may happen to sshd. The
// process holds no descriptor and no variable of the caller's, and ends with it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/cgroup_place.hpp"
#include "core/extern_step.hpp"
#include "core/login_taken.hpp"
#include "core/result.hpp"
#include "posix/slurm_library.hpp"

namespace llmgw {

struct TakeOrder {
    std::string library;            // path of libslurm, or "" for the one that is there
    std::vector<ExternStep> steps;  // in the order in which they are wanted
    uid_t owner = 0;
    pid_t process = 0;  // the login
};

struct Taken {
    LoginTaken login;
    std::vector<JobNamespace> namespaces;
};

// Into the first of the owner's steps that takes it. Errors: missing or invalid (libslurm), timeout,
// internal.
Result<Taken> take_login(const TakeOrder& order);

}  // namespace llmgw
