#include "packages/transaction.hpp"

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw::packages {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view last_line_of(const std::string& output) {
    std::string_view last;
    for (const std::string_view line : split(output, '\n')) {
        if (!trimmed(line).empty()) last = trimmed(line);
    }
    return last;
}

}  // namespace

Result<TaskResult> run_when_free(TaskRunner& runner, const MakeTask& make, const Locks& locks,
                                 const Progress& progress, const std::stop_token& stop) {
    const Clock::time_point until = Clock::now() + locks.patience;
    for (;;) {
        const Result<void> free = wait_until_free(locks.held, until, progress, stop);
        if (!free) return free.error();
        const auto left = std::chrono::duration_cast<std::chrono::seconds>(until - Clock::now());
        Result<TaskResult> result = runner.run(make(std::max(left, std::chrono::seconds(0))), stop);
        if (!result || result.value().success() || !locks.in_the_way(result.value().output)) return result;
        if (Clock::now() >= until) {
            return Error{
                Code::timeout,
                "gave up waiting for another package manager: " + shown(last_line_of(result.value().output)) +
                    "; nothing was changed, and trying again when it is done will do"};
        }
        // The holder may be one that can't be seen from here.
        if (!pause_for(limits::package_lock_look_every, stop)) {
            return Error{Code::unavailable, "stopped while waiting for another package manager"};
        }
    }
}

}  // namespace llmgw::packages
