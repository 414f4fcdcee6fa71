// Making homes in a process of its own: the helper sees /home read-only, and a file server that doesn't
// answer would hold it.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/task_runner.hpp"
#include "core/users_plan.hpp"

namespace llmgw::service {

struct HomesOrder {
    std::string mounted;    // a path that must be on another file system than /; empty: none
    std::string directory;  // that homes are in
    std::vector<MadeUser> users;
};

// `program` is one that calls make_homes_here() for `--make-homes FILE`; `file` is root's, and gone
// afterwards. The answer has a sentence for each login whose home could not be made.
Result<std::map<std::string, std::string>> make_homes(const HomesOrder& order, const std::string& program,
                                                      const std::string& file, TaskRunner& runner,
                                                      const std::stop_token& stop);

// In this process, for main() only; exit code.
int make_homes_here(const std::string& file);

}  // namespace llmgw::service
