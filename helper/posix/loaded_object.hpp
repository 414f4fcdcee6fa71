// Shared libraries that are mapped into this process.
#pragma once

#include <string>
#include <string_view>

namespace llmgw {

// The path that the library with this file name was loaded from, or an empty text. In slurmstepd and in
// Slurm's commands every plugin of plugstack.conf is mapped before the first callback of any (Slurm 22.05
// plugstack.c, 24.11 and 26.05 spank.c), so the answer does not depend on the order of its lines.
std::string loaded_from(std::string_view file_name);

}  // namespace llmgw
