// Home directories, made by root where users can't interfere.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/result.hpp"

namespace llmgw {

// DIRECTORY/LOGIN, 0700 and the user's, with what is in `skeleton` (links as links), unless the user has one
// already. It gets its name last and is root's alone until then, so that nothing is ever done in a place that
// users can write. The directory is made, 0755, if it is missing, but not the one that it is in. Errors:
// conflict (something else is in its place), denied (root may not: a squashing NFS server), internal.
Result<void> make_home(const std::string& directory, const std::string& login, uid_t uid,
                       const std::string& skeleton);

}  // namespace llmgw
