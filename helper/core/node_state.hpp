// RUN/node: what the helper found out about its machine, for the guard. The guard trusts a container step to
// a machine only if this file says so and what it names is still what the helper looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct NodeState {
    std::string machine;
    bool ready = false;
    std::string reason;  // "pyxis 0.24.0, enroot 4.2.1" when ready, else the one reason why it isn't
    std::string boot;    // /proc/sys/kernel/random/boot_id when this was found out
    bool oci = false;    // Slurm's configuration directory has an oci.conf
    // Only when ready: paths, and FileStamp texts of what stood there when it was verified.
    std::string pyxis_path;
    std::string pyxis_fingerprint;
    std::string enroot_path;
    std::string enroot_fingerprint;
    // In each of these every user has a directory user-UID of enroot's.
    std::vector<std::string> user_directories;

    bool operator==(const NodeState&) const = default;
};

Result<NodeState> parse_node_state(std::string_view text);
std::string format_node_state(const NodeState& state);

}  // namespace llmgw
