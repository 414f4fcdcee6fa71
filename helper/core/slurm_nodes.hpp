// Nodes as slurmctld has them: `scontrol --oneliner show node`, parsed. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

struct SlurmNode {
    std::string name;
    std::vector<std::string> state;  // "IDLE", "DRAIN": the base state and its flags, in capitals
    std::string reason;              // without who said it and when
    std::uint32_t cpus_in_use = 0;

    bool operator==(const SlurmNode&) const = default;
    [[nodiscard]] bool is(std::string_view flag) const;
    // Has a job, or one that is ending.
    [[nodiscard]] bool busy() const { return cpus_in_use > 0 || is("COMPLETING"); }
};

// 22.05 to 26.05. Lines that are no node's are passed over.
std::vector<SlurmNode> parse_slurm_nodes(std::string_view text);

}  // namespace llmgw
