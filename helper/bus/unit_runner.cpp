#include "bus/unit_runner.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "bus/systemd.hpp"
#include "core/limits.hpp"
#include "posix/child_runner.hpp"
#include "posix/file.hpp"
#include "posix/task_output.hpp"

namespace llmgw::bus {
namespace {

using Clock = std::chrono::steady_clock;

// Wakes who polls when stop is requested.
class Alarm {
  public:
    explicit Alarm(const std::stop_token& stop)
        : file_(::eventfd(0, EFD_CLOEXEC)), wake_(stop, Ring{file_.get()}) {}
    [[nodiscard]] int fd() const noexcept { return file_.get(); }

  private:
    struct Ring {
        int fd;
        void operator()() const { ::eventfd_write(fd, 1); }
    };
    Descriptor file_;
    std::stop_callback<Ring> wake_;
};

// systemd doesn't answer for a while when it reloads or is upgraded.
class Patience {
  public:
    bool lasts(bool answered) {
        if (answered || !waiting_) since_ = Clock::now();
        waiting_ = !answered;
        return Clock::now() - since_ < limits::systemd_answer;
    }

  private:
    bool waiting_ = false;
    Clock::time_point since_;
};

Error stopped_waiting(const Task& task) {
    return {Code::unavailable, "the helper ends while it waits for " + task.unit + ".service"};
}

// Until a unit of this name, which an earlier helper started, has ended.
Result<void> wait_for_earlier(Systemd& systemd, const Task& task, const Alarm& alarm,
                              const std::stop_token& stop) {
    Patience patience;
    bool told = false;
    while (!stop.stop_requested()) {
        const Result<Systemd::State> state = systemd.state();
        if (!patience.lasts(state.ok())) return state.error();
        const bool busy = !state || state.value().running || state.value().job;
        if (state && state.value().failed) systemd.forget_failure();
        if (busy && !told && task.on_line) task.on_line("waiting for " + task.unit + ".service to end");
        told = told || busy;
        // The name of one that has ended is free a moment later.
        const Result<bool> waited =
            systemd.wait(alarm.fd(), busy ? std::chrono::milliseconds(limits::systemd_look_every)
                                          : limits::task_look_every);
        if (!waited) return waited.error();
        if (!busy) return {};
    }
    return stopped_waiting(task);
}

Result<void> start(Systemd& systemd, const Task& task, const TaskOutput& output, const Alarm& alarm,
                   const std::stop_token& stop) {
    const Result<ManagerFacts> facts = systemd.facts();
    if (!facts) return facts.error();
    const std::vector<UnitProperty> properties = unit_properties(task, facts.value());
    // Each round waits for one that ran, or a moment.
    constexpr int rounds = 600;
    for (int round = 0; round < rounds; ++round) {
        if (stop.stop_requested()) return stopped_waiting(task);
        const Result<Systemd::Start> started = systemd.start(properties, output.fd());
        if (!started) return started.error();
        if (started.value() == Systemd::Start::started) return {};
        if (Result<void> over = wait_for_earlier(systemd, task, alarm, stop); !over) return over;
    }
    return Error{Code::conflict,
                 task.unit + ".service is there and doesn't run; see \"systemctl status " + task.unit + "\""};
}

Result<UnitEnd> follow(Systemd& systemd, const Task& task, TaskOutput& output, const Alarm& alarm,
                       const std::stop_token& stop) {
    Patience patience;
    // A signal says when to look; the timer is a net.
    Clock::time_point look = Clock::now();
    while (!stop.stop_requested()) {
        if (Clock::now() >= look) {
            look = Clock::now() + limits::systemd_look_every;
            const Result<Systemd::State> state = systemd.state();
            if (!patience.lasts(state.ok())) return state.error();
            if (state && !state.value().job && !state.value().running) return systemd.end();
        }
        output.read();
        const Result<bool> waited = systemd.wait(alarm.fd(), limits::task_look_every);
        if (!waited) {
            return Error{Code::unavailable, waited.error().message + "; " + task.argv.front() +
                                                " goes on in " + task.unit + ".service"};
        }
        if (waited.value()) look = Clock::now();
    }
    return goes_on(task);
}

}  // namespace

Result<TaskResult> UnitRunner::run(const Task& task, const std::stop_token& stop) {
    if (task.argv.empty() || !task.argv.front().starts_with('/') || task.unit.empty()) {
        return Error{Code::invalid, "a task has a name and a program with an absolute path"};
    }
    if (::access(task.argv.front().c_str(), X_OK) != 0) {
        return Error{errno == ENOENT ? Code::missing : Code::internal,
                     "cannot start " + task.argv.front() + ": " + reason_of(errno)};
    }
    Result<TaskOutput> output = TaskOutput::create(task.most_output, task.on_line);
    if (!output) return output.error();
    Result<Systemd> systemd = Systemd::connect(bus_address_, task.unit + ".service");
    if (!systemd) return systemd.error();
    const Alarm alarm(stop);
    const Result<void> started = start(systemd.value(), task, output.value(), alarm, stop);
    if (!started) return started.error();
    const Result<UnitEnd> end = follow(systemd.value(), task, output.value(), alarm, stop);
    output.value().finish();
    if (!end) return end.error();
    return task_result(task, end.value(), output.value().kept());
}

std::unique_ptr<TaskRunner> best_runner(const std::string& bus_address) {
    const bool systemd = ::access("/run/systemd/system", F_OK) == 0 && systemd_is_on(bus_address);
    if (systemd) return std::make_unique<UnitRunner>(bus_address);
    return std::make_unique<ChildRunner>();
}

}  // namespace llmgw::bus
