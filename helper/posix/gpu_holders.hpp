// Which processes hold a GPU: have its device file open or mapped, by whatever name. Not asked of the
// drivers' tools, which open the devices themselves, and know only processes that they count.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct GpuRules {
    std::vector<std::string> devices;  // glob patterns of device files
    std::vector<std::string> allowed;  // programs that may hold them, by the path of their file
    // Names of processes that can't be looked into, on a machine that is a container itself: passed over.
    std::vector<std::string> unseen;
};

// NVIDIA's, AMD's and Intel's; and NVIDIA's daemons, which hold all GPUs of a machine all the time.
GpuRules usual_gpu_rules();

// One line for each process that holds one: "pid 4711 (python3) has /dev/nvidia0 open". What starts another
// process meanwhile and ends could hide it, so that it is looked twice until both looks agree. Errors
// (internal): a process could not be looked into, and it is not known whether it holds one.
Result<std::vector<std::string>> gpu_holders(const GpuRules& rules);

}  // namespace llmgw
