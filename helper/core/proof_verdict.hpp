// Whether a proof passed, and why not: pure. service/proof.hpp runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw {

// What proof-init says, see proof-init/main.cpp.
struct ProofAnswer {
    std::string token;
    std::string marker;
    std::string root;  // "major:minor inode" of its root directory
    std::uint64_t nvidia_mounts = 0;

    bool operator==(const ProofAnswer&) const = default;
};
// The last line that is one, in a container's output.
std::optional<ProofAnswer> proof_answer_in(std::string_view output);

struct ProofWanted {
    std::string token;      // that was given to the container, and that its image has
    std::string host_root;  // "major:minor inode" of the machine's own
    bool gpu = false;
};
// Error (invalid): says what is wrong.
Result<void> judge(const ProofAnswer& answer, const ProofWanted& wanted);

// The kernel's switches for user namespaces; nothing: this kernel hasn't it.
struct NamespaceLimits {
    std::optional<long> max_user_namespaces;   // user.max_user_namespaces
    std::optional<long> unprivileged_clone;    // kernel.unprivileged_userns_clone
    std::optional<long> apparmor_restricts;    // kernel.apparmor_restrict_unprivileged_userns
    std::optional<long> max_mount_namespaces;  // user.max_mnt_namespaces
    bool apparmor_profile = false;             // /etc/apparmor.d/enroot is there
    bool operator==(const NamespaceLimits&) const = default;
};

// What to do about a failure with this output; empty where nothing is known about it.
std::string remedy_for(std::string_view output, const NamespaceLimits& limits);

// The last words of a failed program and the remedy, as one line.
std::string proof_failure(std::string_view output, int exit_code, const NamespaceLimits& limits);

}  // namespace llmgw
