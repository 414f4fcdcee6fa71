// What a plugin's library says of itself. Opening a library runs code in it, so the helper does that in a
// process of its own, as nobody: `llmgw-slurm-helper --inspect-plugin FILE` prints what inspect_here() finds.
#pragma once

#include <string>

#include "core/machine_check.hpp"
#include "core/result.hpp"

namespace llmgw::slurm {

// In this process. `slurm_library` is libslurmfull.so, without which pyxis (linked with -z now) does not
// load. Prints one state text to standard output, or says why not on standard error. For main() only; exit
// code.
int inspect_here(const std::string& library, const std::string& slurm_library);

// In a process of its own: `inspector` is the path of a program that calls inspect_here().
Result<PluginFacts> inspect_plugin(const std::string& inspector, const std::string& library,
                                   const std::string& slurm_library);

}  // namespace llmgw::slurm
