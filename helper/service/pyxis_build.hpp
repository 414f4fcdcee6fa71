// Builds pyxis from its pinned source against this machine's own Slurm, unprivileged, without network, in a
// transient unit with a time limit, and puts it in place by rename only if its stamp is this Slurm's and it
// loads in a throw-away process.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "core/machine_check.hpp"
#include "core/result.hpp"
#include "core/task_runner.hpp"
#include "service/slurm_headers.hpp"

namespace llmgw::service {

struct PyxisBuild {
    std::string source;  // the archive in the cache, digest already checked; checked again while it is read
    std::string sha256;
    std::string version;        // "0.24.0": what the library must say
    std::string slurm_version;  // "22.05.8"
    std::string slurm_library;  // libslurmfull.so
    std::string inspector;      // service::MachinePaths::inspector
    SlurmHeaders headers;
    BuildTools tools;
    std::string target = "/usr/local/lib/slurm/spank_pyxis.so";  // its directory is made
    std::string work = "/var/lib/llmgw-slurm/build";             // emptied before and after
    std::chrono::seconds deadline{600};
};

// What was put in place. Errors carry the compiler's words; the target is then as before. Of `stop`:
// unavailable; the build goes on without consequence.
Result<PluginFacts> build_pyxis(const PyxisBuild& build, TaskRunner& runner, const std::stop_token& stop);

// Whether a library that says this of itself is the one that `version` and this Slurm want.
// Error (invalid): says what is different.
Result<void> check_pyxis(const PluginFacts& facts, const std::string& version,
                         const std::string& slurm_version);

// Takes the library away, and what a killed build left beside it. Nothing there is no error.
Result<void> remove_pyxis(const std::string& target);

}  // namespace llmgw::service
