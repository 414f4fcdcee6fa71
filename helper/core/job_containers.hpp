// Which containers a job runs on this machine, as the namespaces of its processes show it, and the word in
// which the PAM module tells llmgw-slurm-login of one. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

// A number alone may be another process's tomorrow.
struct ContainerProcess {
    std::int32_t process = 0;
    std::uint64_t started = 0;  // ticks since the boot (proc(5), stat, field 22)

    bool operator==(const ContainerProcess&) const = default;
};

// A process of the job's user.
struct ProcessNamespaces {
    ContainerProcess process;
    std::uint64_t users = 0;  // inode of its user namespace
    bool below_ours = false;  // which is a child of this process's own
    bool own_mounts = false;  // and has a mount namespace: without one it sees the host's files

    bool operator==(const ProcessNamespaces&) const = default;
};

struct JobContainers {
    std::size_t count = 0;
    std::optional<ContainerProcess> only;  // the way into the one container, if it is one

    bool operator==(const JobContainers&) const = default;
};

// A container is a user namespace right below the host's: what programs inside make is none of its own. The
// way in is the process that began first, whose mounts are the container's.
JobContainers containers_among(const std::vector<ProcessNamespaces>& processes);

// "it is on the host, since job 5 runs 2 containers here".
std::string why_on_host(const JobContainers& containers, std::uint32_t job);

inline constexpr std::string_view container_variable = "LLMGW_SLURM_CONTAINER";
// "PROCESS:STARTED", digits only. Nothing: any other text, and leading zeros.
std::string format_container(const ContainerProcess& container);
std::optional<ContainerProcess> parse_container(std::string_view text);

// A line of cgroup.procs. Nothing: none, and the 0 of a process that can't be seen from here.
std::optional<std::int32_t> parse_process_number(std::string_view text);

// From /proc/PID/stat, in which the name of the program can be anything.
std::optional<std::uint64_t> start_of_process(std::string_view stat);

// From /proc/PID/status. Nothing: real and effective user are two.
std::optional<std::uint32_t> user_of_process(std::string_view status);

}  // namespace llmgw
