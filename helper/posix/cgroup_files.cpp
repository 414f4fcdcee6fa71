#include "posix/cgroup_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/extern_step.hpp"
#include "core/limits.hpp"
#include "core/login_verdict.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

std::string directory_of_step(const StepPlace& place, const std::string& proc) {
    const Result<std::string> mounts = read_file(proc + "/self/mountinfo", limits::mountinfo_bytes);
    return mounts ? cgroup_directory(mounts.value(), place).value_or("") : "";
}

bool file_says(const std::string& path, std::string_view word) {
    const Result<std::string> content = read_file(path, limits::cgroup_file_bytes);
    return content && contains(content.value(), word);
}

// Numbers of the processes in a cgroup and those below it, up to the limit.
std::vector<std::string> processes_below(const std::string& directory) {
    std::vector<std::string> found;
    std::error_code none;
    const auto take = [&found](const std::string& group) {
        const Result<std::string> content = read_file(group + "/cgroup.procs", limits::cgroup_file_bytes);
        if (!content) return;
        for (const std::string_view line : split(content.value(), '\n')) {
            if (!line.empty() && found.size() < limits::job_processes) found.emplace_back(line);
        }
    };
    take(directory);
    for (std::filesystem::recursive_directory_iterator at(directory, none), end; !none && at != end;
         at.increment(none)) {
        if (found.size() >= limits::job_processes) break;
        if (at->is_directory(none)) take(at->path());
    }
    return found;
}

}  // namespace

Result<Cgroups> cgroups_of(pid_t process, const std::string& proc) {
    const Result<std::string> text =
        read_file(proc + "/" + std::to_string(process) + "/cgroup", limits::cgroup_file_bytes);
    if (!text) return text.error();
    return parse_cgroups(text.value());
}

bool is_frozen(const StepPlace& place, const std::string& proc) {
    const std::string step = directory_of_step(place, proc);
    if (step.empty()) return false;
    if (!place.tracker.empty()) {
        // THAWED; FREEZING and FROZEN also because of a parent.
        return file_says(step + "/freezer.state", "FROZEN") || file_says(step + "/freezer.state", "FREEZING");
    }
    // What Slurm freezes is the part with the user's processes (cgroup_v2.c).
    for (const std::string& group : {step, step + "/user"}) {
        if (file_says(group + "/cgroup.events", "frozen 1") || file_says(group + "/cgroup.freeze", "1")) {
            return true;
        }
    }
    return false;
}

bool is_deserted(const StepPlace& place, const std::string& proc) {
    std::string step = directory_of_step(place, proc);
    // With cgroup v2 slurmstepd is in a part of its own (cgroup_v2.c).
    if (place.tracker.empty()) step += "/user";
    std::error_code none;
    return std::filesystem::is_directory(step, none) && processes_below(step).empty();
}

std::optional<std::vector<std::uint32_t>> jobs_beside(const StepPlace& place, uid_t user,
                                                      const std::string& proc) {
    const std::optional<StepPlace> jobs = jobs_place_of(place, user);
    const std::string directory = jobs ? directory_of_step(*jobs, proc) : "";
    if (directory.empty()) return std::nullopt;
    constexpr std::string_view prefix = "job_";
    std::vector<std::uint32_t> found;
    std::error_code none;
    for (std::filesystem::directory_iterator at(directory, none), end; !none && at != end;
         at.increment(none)) {
        const std::string name = at->path().filename();
        if (!name.starts_with(prefix)) continue;
        if (const auto job = parse_job_number(std::string_view(name).substr(prefix.size())))
            found.push_back(*job);
    }
    // Not there: no job of theirs. Anything else is no answer.
    if (none && none != std::errc::no_such_file_or_directory) return std::nullopt;
    return found;
}

std::vector<std::string> variables_of_job(const StepPlace& place, std::uint32_t job, uid_t user,
                                          const std::string& proc) {
    const std::string step = directory_of_step(place, proc);
    if (step.empty()) return {};
    std::vector<std::string> found;
    for (const std::string& process : processes_below(::llmgw::directory_of(step))) {
        struct stat status {};
        const std::string directory = proc + "/" + process;
        if (::stat(directory.c_str(), &status) != 0 || status.st_uid != user) continue;
        const Result<std::string> environment =
            read_file(directory + "/environ", limits::job_environment_bytes);
        if (!environment) continue;
        std::vector<std::string> variables = job_variables(environment.value(), job);
        // The batch script knows most; a step may have only a part of the job's GPUs.
        if (variables.size() > found.size()) found = std::move(variables);
    }
    return found;
}

}  // namespace llmgw
