// What a user still runs.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "core/result.hpp"

namespace llmgw {

// Kills every process whose real or effective user it is, new ones too, until there is none. The number must
// be a user's and not root's (invalid). Errors: timeout, with one that is left.
Result<void> end_processes_of(uid_t uid, std::chrono::milliseconds patience);

}  // namespace llmgw
