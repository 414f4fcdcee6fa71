#include "posix/child_runner.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "core/limits.hpp"
#include "posix/launch.hpp"
#include "posix/task_output.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

bool below_tmp(const std::string& path) {
    return path.starts_with("/tmp/") || path.starts_with("/var/tmp/");
}

bool needs_shared_tmp(const Task& task) {
    return below_tmp(task.argv.front()) || below_tmp(task.directory + "/") ||
           std::any_of(task.writable.begin(), task.writable.end(), below_tmp);
}

Launch launch_of(const Task& task, int output) {
    const bool root = ::geteuid() == 0;
    Launch launch;
    launch.argv = task.argv;
    launch.environment = task.environment;
    launch.directory = task.directory;
    launch.output = output;
    launch.session = true;
    if (task.unprivileged && root) launch.uid = launch.gid = nobody;
    launch.no_new_privileges = task.unprivileged && !task.keep_capabilities;
    launch.no_network = task.no_network && root;
    launch.read_only = task.read_only && root;
    launch.private_tmp = (task.private_tmp || task.read_only) && root && !needs_shared_tmp(task);
    launch.writable = task.writable;
    launch.memory_bytes = task.memory_bytes;
    return launch;
}

// Until it ended: true. False: the deadline passed, or stop was requested.
bool follow(pid_t child, TaskOutput& output, Clock::time_point deadline, const std::stop_token& stop) {
    const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    const Descriptor stopped(::eventfd(0, EFD_CLOEXEC));
    const std::stop_callback wake(stop, [&] { ::eventfd_write(stopped.get(), 1); });
    while (!stop.stop_requested()) {
        const bool ended = ends_before(child, Clock::now());
        output.read();
        if (ended) return true;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return false;
        pollfd waiting[] = {{process.get(), POLLIN, 0}, {stopped.get(), POLLIN, 0}};
        ::poll(waiting, 2, static_cast<int>(std::min(left, limits::task_look_every).count()));
    }
    return false;
}

}  // namespace

Result<TaskResult> ChildRunner::run(const Task& task, const std::stop_token& stop) {
    if (task.argv.empty()) return Error{Code::invalid, "a task has a program"};
    Result<TaskOutput> output = TaskOutput::create(task.most_output, task.on_line);
    if (!output) return output.error();
    const Result<pid_t> launched = launch(launch_of(task, output.value().fd()));
    if (!launched) return launched.error();
    const pid_t child = launched.value();
    const bool ended = follow(child, output.value(), Clock::now() + task.deadline, stop);
    if (!ended && stop.stop_requested()) {
        // Somebody has to bury it, should this process live on.
        std::thread([child] { bury(child); }).detach();
        return goes_on(task);
    }
    // Also what it left behind, as systemd does.
    ::kill(-child, SIGKILL);
    const int exit_code = bury(child);
    output.value().finish();
    if (!ended) return took_too_long(task, output.value().kept());
    return TaskResult{exit_code, output.value().kept()};
}

}  // namespace llmgw
