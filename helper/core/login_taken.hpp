// What became of putting a login into a job, as the process that tried tells it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cgroup_place.hpp"
#include "core/result.hpp"

namespace llmgw {

struct LoginTaken {
    std::optional<std::size_t> step;       // of those that were given; nothing: none took it
    std::int64_t slurmstepd = 0;           // its process
    StepPlace place;                       // and its cgroup
    std::vector<std::string> held;         // the hierarchies in which the login now is in the step
    std::vector<std::int64_t> namespaces;  // types, for setns(2), of the descriptors that come along
    std::vector<std::uint32_t> suspended;  // jobs of the owner's
    std::vector<std::string> failures;     // why others of theirs, or slurmstepds, were of no use
    std::vector<std::size_t> foreign;      // steps that are somebody else's: no need to ask again
    std::optional<Error> error;            // nothing could be tried at all

    bool operator==(const LoginTaken&) const = default;
};

std::string format_login_taken(const LoginTaken& taken);
Result<LoginTaken> parse_login_taken(std::string_view text);

}  // namespace llmgw
