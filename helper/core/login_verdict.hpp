// Whether a login is Slurm's business on this host, and what a user who is refused is told. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/adopt_options.hpp"

namespace llmgw {

struct HostFacts {
    bool controller = false;   // slurm.conf names this host as one
    bool slurmd_left = false;  // some slurmd left files in its directory: it ran here
    std::string unknown;       // why that can't be told; ""

    bool operator==(const HostFacts&) const = default;
};

enum class HostKind { inert, node };

// What can't be told counts as a node: nobody without a job gets in by breaking a file.
HostKind host_kind(LoginRole role, const HostFacts& facts);

// What was found while looking for a job to put the login into.
struct LoginFindings {
    std::optional<std::uint32_t> wanted;   // the job that the user named
    std::vector<std::uint32_t> suspended;  // jobs of theirs here
    std::vector<std::string> failures;     // why others of theirs, or slurmstepds, were of no use
    bool without_extern = false;           // there are steps here, and no extern step at all

    bool operator==(const LoginFindings&) const = default;
};

// One line, without "refused".
std::string why_refused(const LoginFindings& findings);

// Of an environment as the kernel keeps it (NAME=VALUE, each ended by a zero byte): what a login gets, too,
// if it is the one of a process of this job. The text comes from memory that the user can write, so that only
// a few names pass, and values that are numbers or GPUs' names.
std::vector<std::string> job_variables(std::string_view environment, std::uint32_t job);

}  // namespace llmgw
