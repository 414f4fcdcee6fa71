// Follows the helper's work and state by its signals, for the command line. Blocks the calling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "bus/client.hpp"
#include "core/job.hpp"
#include "core/result.hpp"

namespace llmgw::bus {

// "Apply" or "Uninstall": the job that the helper names, new or under way.
Result<std::uint32_t> start_job(const HelperAddress& helper, const std::string& method);
Result<std::uint32_t> start_job(const HelperAddress& helper, const std::string& method, bool argument);

Result<Job> read_job(const HelperAddress& helper, std::uint32_t id);

// Calls `on_change` with the job as it is and whenever it changes, and returns it when it has ended. A helper
// that is restarted meanwhile is waited for, for `patience`, and its own job of the same kind is followed on.
// Error (unavailable): it did not come back.
Result<Job> follow_job(const HelperAddress& helper, std::uint32_t id,
                       const std::function<void(const Job&)>& on_change,
                       std::chrono::seconds patience = std::chrono::seconds(120));

// Calls `on_change` at once and whenever the state, the reason or the status changed, until it returns false.
// A helper that goes away or comes back is a change.
Result<void> watch_helper(const HelperAddress& helper, const std::function<bool()>& on_change);

}  // namespace llmgw::bus
