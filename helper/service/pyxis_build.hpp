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

namespace llmgw::service {

// Slurm's headers that a compiler would find, and whether they belong to the Slurm that runs here.
struct SlurmHeaders {
    std::string directory;  // "/usr/include": has slurm/spank.h
    std::string version;    // "22.05.8", from slurm/slurm_version.h or slurm.h's SLURM_VERSION_NUMBER

    bool operator==(const SlurmHeaders&) const = default;
};

// Errors: missing (no slurm/spank.h anywhere; names the package of this family), conflict (headers of another
// major.minor than `slurm` in front on the include path; names both versions and the directory).
Result<SlurmHeaders> find_slurm_headers(const std::string& slurm_version);

struct PyxisBuild {
    std::string source;  // the archive in the cache, digest already checked; checked again while it is read
    std::string sha256;
    std::string version;        // "0.24.0": what the library must say
    std::string slurm_version;  // "22.05.8"
    std::string slurm_library;  // libslurmfull.so
    std::string inspector;      // service::MachinePaths::inspector
    SlurmHeaders headers;
    std::string target = "/usr/local/lib/slurm/spank_pyxis.so";
    std::string work = "/var/lib/llmgw-slurm/build";  // emptied before and after
    std::chrono::seconds deadline{600};
};

// What was put in place. Errors carry the compiler's last lines; the target is then as before.
Result<PluginFacts> build_pyxis(const PyxisBuild& build, TaskRunner& runner, const std::stop_token& stop);

}  // namespace llmgw::service
