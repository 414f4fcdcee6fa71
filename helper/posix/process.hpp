// Running a program that only answers, and reading what it prints. What changes the machine or takes long is
// a Task (core/task_runner.hpp).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct Command {
    std::vector<std::string> argv;              // argv[0] is an absolute path; no shell is involved
    std::vector<std::string> environment;       // "NAME=VALUE", all of it
    std::optional<uid_t> uid;                   // run as this user and group, without supplementary groups
    std::optional<gid_t> gid;                   // the user's number unless given
    std::chrono::milliseconds deadline{10000};  // killed after it, with everything it started
    std::size_t most_output = 64 * 1024;        // of standard output and error together; the rest is dropped
    bool errors_apart = false;                  // standard error goes to Outcome::errors, with its own limit
    int stop = -1;                              // a descriptor: once it can be read, as past the deadline
};

struct Outcome {
    int exit_code = 0;  // 128 + signal when a signal ended it
    std::string output;
    std::string errors{};

    [[nodiscard]] bool success() const noexcept { return exit_code == 0; }
};

// Standard input is empty, and no other descriptor is passed on. What the program started in its process
// group ends with it. Errors: missing (no such program), timeout, unavailable (stopped), internal.
Result<Outcome> run(const Command& command);

// The last line of an output that says anything, for messages.
std::string last_line(const std::string& output);

}  // namespace llmgw
