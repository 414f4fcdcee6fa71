#include "service/setup.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/sshd_config.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"

namespace llmgw::service {
namespace {

using Clock = std::chrono::steady_clock;

// Each step can be next twice (pyxis goes out of plugstack.conf and in again): more rounds are a circle.
constexpr int most_rounds = 40;

int number_of(const Plan& plan, const Step& step) {
    return static_cast<int>(&step - plan.data()) + 1;
}

Error failed(const Step& step, const Error& error) {
    return error.within("could not " + step.title);
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string text_of(const std::vector<StepTime>& times) {
    std::string text;
    for (const StepTime& time : times) {
        text += fmt::format("{}{} {:.3f} s", text.empty() ? "" : ", ", time.name, time.seconds);
        if (time.in_tasks > 0) text += fmt::format(" ({:.3f} s of it other programs)", time.in_tasks);
    }
    return text;
}

}  // namespace

Setup::Setup(SetupOptions options, Releases releases, TaskRunner& runner, Users* users)
    : options_(std::move(options)),
      releases_(std::move(releases)),
      runner_(runner),
      ledger_(options_.state_dir + "/ledger.json"),
      users_(users),
      storage_({options_.state_dir, options_.paths.machine, options_.paths.inspector}, runner_),
      sshd_({.state_dir = options_.state_dir, .drop_in = sshd_drop_in}),
      login_({.state_dir = options_.state_dir,
              .run_dir = options_.run_dir,
              .program = options_.paths.inspector,
              .rule = options_.logins,
              .module = options_.pam_module,
              .login_program = options_.login_program},
             runner_) {}

Result<Plan> Setup::plan(const ResolvedSettings& settings, bool thorough, const std::stop_token& stop) {
    munge_key_.reset();
    const Result<SetupFacts> facts = gather(settings, thorough, stop);
    if (!facts) return facts.error();
    return plan_machine(settings, releases_, facts.value(), options_.conduct);
}

Result<TaskResult> TimedRunner::run(const Task& task, const std::stop_token& stop) {
    const Clock::time_point start = Clock::now();
    Result<TaskResult> result = runner_.run(task, stop);
    seconds_ += seconds_since(start);
    return result;
}

Result<void> Setup::take_step(const Plan& plan, const Step& step, const SetupFacts& facts,
                              SetupObserver& observer, const std::stop_token& stop) {
    observer.on_step(number_of(plan, step), static_cast<int>(plan.size()), step);
    log(Level::info, step.title + ": " + step.finding);
    const Clock::time_point start = Clock::now();
    const double before = runner_.seconds();
    for (const Action& action : step.apply) {
        const Result<void> done = perform(action, facts, observer, stop);
        if (!done) return failed(step, done.error());
    }
    times_.push_back({step.name, seconds_since(start), runner_.seconds() - before});
    return {};
}

Result<void> Setup::apply(const ResolvedSettings& settings, SetupObserver& observer,
                          const std::stop_token& stop) {
    times_.clear();
    munge_key_.reset();
    std::string last;
    for (int round = 0; round < most_rounds; ++round) {
        const Clock::time_point start = Clock::now();
        const double before = runner_.seconds();
        const Result<SetupFacts> facts = gather(settings, false, stop);
        if (!facts) return facts.error();
        const Result<Plan> plan = plan_machine(settings, releases_, facts.value(), options_.conduct);
        if (!plan) return plan.error();
        times_.push_back({"look", seconds_since(start), runner_.seconds() - before});
        const Step* next = next_step(plan.value());
        if (next == nullptr) {
            log(Level::info, "nothing is left to do; took " + text_of(times_));
            return {};
        }
        if (next->apply.empty()) return Error{Code::invalid, next->finding};
        if (next->name == last) {
            return failed(*next, {Code::internal, "it was done, and still: " + next->finding});
        }
        last = next->name;
        if (stop.stop_requested()) {
            return Error{Code::unavailable, "the helper is ending; the work goes on after its start"};
        }
        if (const Result<void> done = take_step(plan.value(), *next, facts.value(), observer, stop); !done)
            return done;
    }
    return Error{Code::internal, "making this machine ready goes in circles at the step \"" + last +
                                     "\": something else undoes it; see the log of llmgw-slurm-helper"};
}

}  // namespace llmgw::service
