// Calls the helper's object, for the command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/lease.hpp"
#include "core/result.hpp"

namespace llmgw::bus {

struct HelperAddress {
    std::string bus;   // empty: the system bus
    std::string name;  // org.llmgw.Slurm1
};

// One method with no or one argument; its answer. Errors: denied, unavailable (no bus, no helper), timeout,
// and what the helper said.
Result<std::string> call_helper(const HelperAddress& helper, const std::string& method);
Result<std::string> call_helper(const HelperAddress& helper, const std::string& method, bool argument);
Result<std::string> call_helper(const HelperAddress& helper, const std::string& method,
                                const std::string& argument);

// SetLent: nodes to lend, and to take back.
Result<std::string> call_set_lent(const HelperAddress& helper, const std::vector<std::string>& add,
                                  const std::vector<std::string>& remove,
                                  const std::optional<Reclaim>& reclaim);
Result<std::string> call_set_fence(const HelperAddress& helper, const std::string& node, bool on);

}  // namespace llmgw::bus
