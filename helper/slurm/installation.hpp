// The Slurm that is installed on this machine.
#pragma once

#include <string>

#include "core/result.hpp"
#include "posix/remembered.hpp"

namespace llmgw::slurm {

struct Installation {
    std::string program;  // what was asked: slurmd, on a machine without it slurmctld, else srun
    std::string version;  // "22.05.8"
    std::string library;  // libslurmfull.so, in Slurm's plugin directory
};

// `library` empty: looked for where Debian, SchedMD's packages and a build from source put it.
Result<Installation> find_installation(const std::string& library);

// The same, but the program is only asked when it or the library is another.
Result<Installation> find_installation(const std::string& library, Remembered<std::string>& versions);

// "22.05.8" out of "slurm-wlm 22.05.8" (Debian) or "slurm 24.11.5".
std::string version_in(const std::string& output);

}  // namespace llmgw::slurm
