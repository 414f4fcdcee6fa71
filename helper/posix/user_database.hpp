// The files that say who is a user, and the lock that everybody who changes them takes.
#pragma once

#include <chrono>
#include <string>

#include "core/result.hpp"
#include "core/user_files.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

// lckpwdf(3)'s lock, which shadow's tools and systemd-sysusers take, too; without that function's signals,
// which are no good in a process with threads. Held until it goes. Error (conflict): somebody has it for
// longer than `patience`.
Result<Descriptor> lock_user_database(const std::string& root, std::chrono::milliseconds patience);

// Those in /etc below `root` ("" for /).
Result<UserFiles> read_user_files(const std::string& root);

}  // namespace llmgw
