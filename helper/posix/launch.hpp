// Starting a program: the one place that forks.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct Launch {
    std::vector<std::string> argv;         // argv[0] is an absolute path; no shell is involved
    std::vector<std::string> environment;  // "NAME=VALUE", all of it
    std::string directory = "/";
    std::optional<uid_t> uid;  // become this user and group, without supplementary groups
    std::optional<gid_t> gid;  // the user's number unless given
    int output = -1;           // standard output and error
    int errors = -1;           // standard error, where it goes elsewhere
    bool session = false;      // in a session of its own rather than only a process group

    // Best effort: what this kernel, or a process that isn't root, can't do is left out.
    bool no_network = false;
    bool private_tmp = false;
    bool read_only = false;  // all but `writable`, /proc and /dev
    std::vector<std::string> writable;
    bool no_new_privileges = false;
    std::uint64_t memory_bytes = 0;  // of address space, for each process; 0: no limit
};

// The child, which leads a process group. Standard input is empty, no other descriptor is passed on, no
// signal is blocked or ignored. Errors: invalid, missing (no such program), internal.
Result<pid_t> launch(const Launch& launch);

// Whether it ended before then. It stays a zombie, so that its number, and its group's, stay taken.
bool ends_before(pid_t child, std::chrono::steady_clock::time_point deadline);

// Buries it. 128 + signal when a signal ended it.
int bury(pid_t child);

}  // namespace llmgw
