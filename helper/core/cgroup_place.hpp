// Where a process is among the cgroups, and whether that is in a job's extern step. Pure. Slurm's paths are
// never built here: they are read off slurmstepd's own, so that versions may lay them out as they like.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

// A line of /proc/PID/cgroup.
struct CgroupLine {
    std::string controllers;  // "cpu,cpuacct"; "" is the unified hierarchy of cgroup v2
    std::string path;

    bool operator==(const CgroupLine&) const = default;
};
using Cgroups = std::vector<CgroupLine>;

// Lines that are none are left out.
Cgroups parse_cgroups(std::string_view text);

// The extern step's own directory, in the hierarchy by which Slurm knows a step's processes.
struct StepPlace {
    std::string tracker;  // controllers of that hierarchy
    std::string path;

    bool operator==(const StepPlace&) const = default;
};

// From /proc/PID/cgroup of the step's slurmstepd. Nothing: Slurm tracks processes some other way here.
// v2: it is in .../step_extern/slurm (22.05 to 26.05 cgroup_v2.c). v1: in freezer it is in .../job_N, and the
// step in .../job_N/step_extern (22.05 and 24.11 xcgroup.c, cgroup_v1.c).
std::optional<StepPlace> extern_step_place(const Cgroups& slurmstepd);

// In v1 the jobs of a user have a directory of their own above: .../uid_N of .../uid_M/job_J/step_extern.
// Nothing: there is no such level, as in v2.
std::optional<StepPlace> jobs_place_of(const StepPlace& place, unsigned user);

// The hierarchies in which the process is in that step. Right after Slurm adopted it these are all that Slurm
// uses: its paths are the same in each.
std::vector<std::string> held_in(const Cgroups& process, const StepPlace& place);

// What of `wanted` the process is no longer held in, as a text for messages ("cpuset, freezer"); "": nothing.
std::string escaped_from(const Cgroups& process, const StepPlace& place,
                         const std::vector<std::string>& wanted);

// The path of a cgroup's directory, from the text of /proc/self/mountinfo. Nothing: it isn't mounted here.
std::optional<std::string> cgroup_directory(std::string_view mountinfo, const StepPlace& place);

}  // namespace llmgw
