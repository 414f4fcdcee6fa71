// What the kernel says about a process's cgroups and a job's processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cgroup_place.hpp"
#include "core/result.hpp"

namespace llmgw {

// `proc` is /proc but in tests. Errors: missing (no such process), internal.
Result<Cgroups> cgroups_of(pid_t process, const std::string& proc = "/proc");

// Whether the step is frozen, as a suspended job's are: a process that joins it stands still at once. What
// can't be read counts as not frozen.
bool is_frozen(const StepPlace& place, const std::string& proc = "/proc");

// Whether no process is in the step but its slurmstepd: what Slurm itself keeps in an extern step until the
// job ends (a sleep, up to 24.11; mgr.c) is gone. What can't be read counts as not deserted.
bool is_deserted(const StepPlace& place, const std::string& proc = "/proc");

// The numbers of the user's jobs beside the one of `place`, as their cgroups say. Nothing: cgroups don't tell
// (v2).
std::optional<std::vector<std::uint32_t>> jobs_beside(const StepPlace& place, uid_t user,
                                                      const std::string& proc = "/proc");

// What a login of the job gets to know (core/login_verdict.hpp), from a process of its user in the job; none
// where there is no such process, as in an allocation without a step here.
std::vector<std::string> variables_of_job(const StepPlace& place, std::uint32_t job, uid_t user,
                                          const std::string& proc = "/proc");

}  // namespace llmgw
