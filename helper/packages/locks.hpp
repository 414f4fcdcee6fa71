// Who else is at work with the machine's packages, and waiting until they are done. Lock files are looked at
// and never touched.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "packages/manager.hpp"

namespace llmgw::packages {

struct LockHolder {
    std::string path;  // of the lock file
    pid_t pid = 0;     // 0: not known, say of a process outside of this container
    std::string name;  // of the program; the kernel keeps 15 bytes of it

    bool operator==(const LockHolder&) const = default;
};

// Of a lock by fcntl, as dpkg, apt, rpm and dnf5 take it.
std::optional<LockHolder> fcntl_holder(const std::string& path);
// Of a file with the number of the process that made it, as dnf4 does it: held while that process lives.
std::optional<LockHolder> pid_file_holder(const std::string& path);

// "unattended-upgr (PID 4711), which holds /var/lib/dpkg/lock-frontend"
std::string text_of(const LockHolder& holder);

// The first of some locks that is held; none: all are free.
using Held = std::function<std::optional<LockHolder>()>;

// Looks now and then until none is held, and says who holds one: once, and again when it is another. Errors:
// timeout (names the holder; trying again helps), unavailable (`stop`).
Result<void> wait_until_free(const Held& held, std::chrono::steady_clock::time_point until,
                             const Progress& progress, const std::stop_token& stop);

// False: `stop` was requested meanwhile.
bool pause_for(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace llmgw::packages
