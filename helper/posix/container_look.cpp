#include "posix/container_look.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/held_process.hpp"

namespace llmgw {
namespace {

Error too_many(const char* what, std::size_t limit) {
    return {Code::too_large, "the job has more than " + std::to_string(limit) + " " + what + " here"};
}

// All of its pieces are looked for one by one: an iterator through the whole tree stops short when a group
// goes away under it, and one container would be told of where there are two.
Result<std::vector<std::string>> groups_of_job(const std::string& job, const std::string& extern_step) {
    std::vector<std::string> groups{job};
    for (std::size_t at = 0; at < groups.size(); ++at) {
        const std::string group = groups[at];
        std::error_code error;
        for (std::filesystem::directory_iterator below(group, error), end; !error && below != end;
             below.increment(error)) {
            std::error_code none;
            if (!below->is_directory(none) || below->path() == extern_step) continue;
            if (groups.size() >= limits::container_cgroups)
                return too_many("cgroups", limits::container_cgroups);
            groups.push_back(below->path());
        }
        if (error && error != std::errc::no_such_file_or_directory && error != std::errc::no_such_device)
            return Error{Code::internal, "cannot list " + group + ": " + error.message()};
    }
    return groups;
}

// Nothing: it is in no user namespace of its own.
Result<std::optional<ProcessNamespaces>> look_at(pid_t process, uid_t user, std::uint64_t ours) {
    const std::optional<ProcessNamespaces> nothing;
    const Result<HeldProcess> held = HeldProcess::open(process);
    if (!held) return held.error();
    const Result<uid_t> owner = held.value().user();
    if (!owner && owner.error().code == Code::denied) return nothing;
    if (!owner) return owner.error();
    if (owner.value() != user) return nothing;
    const Result<Descriptor> users = held.value().open_namespace("user");
    if (!users) return users.error();
    const std::uint64_t number = namespace_number(users.value().get());
    if (number == ours) return nothing;
    const Result<Descriptor> mounts = held.value().open_namespace("mnt");
    if (!mounts) return mounts.error();
    const Result<std::uint64_t> started = held.value().started();
    if (!started) return started.error();
    const auto is = [](const Descriptor& file, std::uint64_t wanted) {
        return file.open() && namespace_number(file.get()) == wanted;
    };
    return std::optional(ProcessNamespaces{{process, started.value()},
                                           number,
                                           is(parent_namespace(users.value().get()), ours),
                                           is(owning_namespace(mounts.value().get()), number)});
}

}  // namespace

Result<std::vector<pid_t>> processes_beside(const StepPlace& extern_step, const std::string& proc) {
    const Result<std::string> mounts = read_file(proc + "/self/mountinfo", limits::mountinfo_bytes);
    if (!mounts) return mounts.error();
    const std::optional<std::string> step = cgroup_directory(mounts.value(), extern_step);
    if (!step) return Error{Code::missing, "the cgroup " + extern_step.path + " is not mounted here"};
    const Result<std::vector<std::string>> groups = groups_of_job(directory_of(*step), *step);
    if (!groups) return groups.error();
    std::vector<pid_t> found;
    for (const std::string& group : groups.value()) {
        const Result<std::string> numbers = read_file(group + "/cgroup.procs", limits::process_file_bytes);
        std::error_code none;
        if (!numbers && !std::filesystem::exists(group, none)) continue;
        if (!numbers) return numbers.error();
        for (const std::string_view line : split(numbers.value(), '\n')) {
            const std::optional<pid_t> process = parse_process_number(line);
            if (!process) continue;
            if (found.size() >= limits::container_processes)
                return too_many("processes", limits::container_processes);
            found.push_back(*process);
        }
    }
    return found;
}

Result<std::vector<ProcessNamespaces>> namespaces_among(const std::vector<pid_t>& processes, uid_t user) {
    const Result<HeldProcess> self = HeldProcess::open(::getpid());
    if (!self) return self.error();
    const Result<Descriptor> ours = self.value().open_namespace("user");
    if (!ours) return ours.error();
    std::vector<ProcessNamespaces> found;
    for (const pid_t process : processes) {
        Result<std::optional<ProcessNamespaces>> seen =
            look_at(process, user, namespace_number(ours.value().get()));
        if (!seen && seen.error().code == Code::missing) continue;
        if (!seen) return seen.error();
        if (seen.value()) found.push_back(*seen.value());
    }
    return found;
}

Result<JobContainers> containers_of_job(const StepPlace& extern_step, uid_t user) {
    const Result<std::vector<pid_t>> processes = processes_beside(extern_step);
    if (!processes) return processes.error();
    const Result<std::vector<ProcessNamespaces>> found = namespaces_among(processes.value(), user);
    if (!found) return found.error();
    return containers_among(found.value());
}

}  // namespace llmgw
