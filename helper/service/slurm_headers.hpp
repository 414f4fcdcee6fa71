// Slurm's headers and the programs that pyxis is built with, as this machine has them.
#pragma once

#include <string>
#include <vector>

#include "core/releases.hpp"
#include "core/result.hpp"

namespace llmgw::service {

// Where things for a build are looked for; tests put their own in front.
struct BuildTools {
    Family family = Family::deb;  // for the names of packages
    std::string search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    // Include directories besides the compiler's own: where a Slurm from source may have been installed.
    std::vector<std::string> also = {"/opt/slurm/include", "/usr/local/slurm/include"};
};

// The path of a program. Error (missing): names it and the package that has it.
Result<std::string> find_tool(const BuildTools& tools, const std::string& program);

// Slurm's headers that a compiler would find, and whether they belong to the Slurm that runs here.
struct SlurmHeaders {
    std::string directory;  // "/usr/include": has slurm/spank.h
    std::string version;    // "22.05.8", from slurm/slurm_version.h or slurm.h's SLURM_VERSION_NUMBER
    bool ahead = false;     // not where the compiler looks by itself: goes in front of that

    bool operator==(const SlurmHeaders&) const = default;
};

// Asks the compiler which it takes, as a copy of another version can stand in front. Errors: missing (no
// compiler, no slurm/spank.h anywhere; names the package), conflict (they are of another version than
// `slurm_version`, micro included, as the stamp in the library would be; names both and the directory).
Result<SlurmHeaders> find_slurm_headers(const std::string& slurm_version, const BuildTools& tools = {});

// Everything that a build of pyxis needs from the package manager.
std::vector<std::string> build_packages(Family family);

// What the preprocessor's output (-E -dD) of slurm/spank.h says: version and directory of the header that
// the version is defined in; empty where it isn't.
SlurmHeaders headers_in(const std::string& preprocessed);

// 0x160508 of "22.05.8", also of "23.11.0-0rc1"; 0: no version.
std::uint32_t stamp_of_version(const std::string& version);

}  // namespace llmgw::service
