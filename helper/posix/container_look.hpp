// The containers that a job runs on this machine. By root, of processes that belong to a user: nothing of
// theirs is followed, only what the kernel says of them.
#pragma once

#include <sys/types.h>

#include <vector>

#include "core/cgroup_place.hpp"
#include "core/job_containers.hpp"
#include "core/result.hpp"

namespace llmgw {

// Errors: missing (the job's cgroups aren't mounted), too_large (more processes than are looked at, of whose
// containers nothing is said then), denied, internal.
Result<JobContainers> containers_of_job(const StepPlace& extern_step, uid_t user);

// Two steps of it. All processes of a job but those in its extern step: steps that end meanwhile are left
// out. `proc` is /proc but in tests.
Result<std::vector<pid_t>> processes_beside(const StepPlace& extern_step, const std::string& proc = "/proc");
// Which of them are the user's and in a user namespace that is not this process's. Those that ended are left
// out.
Result<std::vector<ProcessNamespaces>> namespaces_among(const std::vector<pid_t>& processes, uid_t user);

}  // namespace llmgw
