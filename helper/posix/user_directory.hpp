// One user's directory below one that everybody may write, such as /run/enroot/user-1000: whoever comes first
// can make it, and whoever owns it decides what is in it.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/result.hpp"

namespace llmgw {

struct User {
    uid_t uid = 0;
    gid_t gid = 0;
};

// "PARENT/user-UID", as enroot is told to name it (core/machine_files.hpp).
std::string user_directory(const std::string& parent, uid_t uid);

// As root: makes it, 0700 and the user's, unless something has its name already. A parent that is not root's
// is left alone. Follows no link.
Result<void> make_user_directory(const std::string& parent, const User& user);

// Error (denied): something has its name that is no directory, is another's, or can be written by others.
// That it is not there is no error.
Result<void> check_user_directory(const std::string& parent, uid_t uid);

}  // namespace llmgw
