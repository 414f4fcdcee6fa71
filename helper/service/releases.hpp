// conf/releases.json: what a machine is to get. An admin's own copy in the configuration directory replaces
// the installed one as a whole.
#pragma once

#include <string>

#include "core/readiness.hpp"
#include "core/releases.hpp"
#include "core/result.hpp"

namespace llmgw::service {

// Errors (each names the file): missing, invalid (everything that is wrong, each with its key), too_large.
Result<Releases> read_releases(const std::string& path);

struct ReleasesInForce {
    Releases releases;
    std::string path;  // of the copy that counts

    bool operator==(const ReleasesInForce&) const = default;
};

inline constexpr const char* admins_releases = "/etc/llmgw-slurm/releases.json";
inline constexpr const char* installed_releases = "/usr/share/llmgw-slurm/releases.json";

// The admin's copy if there is one, else the installed one. A copy that is broken is an error and never
// passed over, and so is one (denied) that somebody else than root could have written: a symbolic link,
// another owner, or a file or directory that its group or everyone may write.
Result<ReleasesInForce> releases_in_force(const std::string& admins = admins_releases,
                                          const std::string& installed = installed_releases);

}  // namespace llmgw::service
