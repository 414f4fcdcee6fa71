// What a node has, as it says itself: what `slurmd -C` prints, and its GPUs' device files. Each machine
// reports it to the leader, and the controller writes slurm.conf and gres.conf from it (slurm_config.hpp).
// Numbers only: whatever a machine reports can't become anything else in Slurm's files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct NodeHardware {
    std::uint32_t cpus = 0;
    std::uint32_t boards = 1;
    std::uint32_t sockets_per_board = 1;
    std::uint32_t cores_per_socket = 1;
    std::uint32_t threads_per_core = 1;
    std::uint64_t memory_mb = 0;
    std::vector<std::uint32_t> gpus;  // N of each /dev/nvidiaN, rising

    bool operator==(const NodeHardware&) const = default;
};

// From `slurmd -C` (22.05 to 26.05), whose first line is "NodeName=n1 CPUs=2 Boards=1 ..."; hwloc may
// complain before it, and "UpTime=" follows. Without GPUs. Error (invalid): no such line, or not what Slurm
// would accept.
Result<NodeHardware> parse_slurmd_hardware(std::string_view output);

// Why Slurm would not take this, as one line: for reports, which others write.
Result<void> check_hardware(const NodeHardware& hardware);

// "nvidia3" is GPU 3; other names are none. Rising and each once.
std::vector<std::uint32_t> gpus_in(const std::vector<std::string>& device_names);

// "[0-3,7]", or "7" for one.
std::string number_list(const std::vector<std::uint32_t>& numbers);

}  // namespace llmgw
