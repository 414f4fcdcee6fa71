#include "posix/process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

struct Prepared {
    std::vector<char*> argv;
    std::vector<char*> environment;
    int output;
    int failure;
    std::optional<gid_t> gid;
};

// CLOSE_RANGE_CLOEXEC, which not every libc has. Linux 5.11; before that the descriptors' own flags count.
constexpr unsigned close_on_exec = 1U << 2U;

// In the child, between fork and exec: only async-signal-safe calls. Says over `failure` why exec did not
// happen.
[[noreturn]] void become(const Command& command, const Prepared& prepared) {
    ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool fine = nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0;
    fine = fine && ::dup2(prepared.output, STDOUT_FILENO) >= 0 && ::dup2(prepared.output, STDERR_FILENO) >= 0;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    // Whoever forgot CLOEXEC: nothing else that is open here is the program's business.
    ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, close_on_exec);
    if (fine && prepared.gid) fine = ::setgroups(0, nullptr) == 0 && ::setgid(*prepared.gid) == 0;
    if (fine && command.uid) fine = ::setuid(*command.uid) == 0;
    if (fine) fine = ::chdir("/") == 0;
    if (fine) ::execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
    const int error_number = errno;
    [[maybe_unused]] const ssize_t told = ::write(prepared.failure, &error_number, sizeof error_number);
    ::_exit(127);
}

Result<std::pair<Descriptor, Descriptor>> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error{Code::internal, "cannot make a pipe: " + reason_of(errno)};
    }
    return std::pair{Descriptor(ends[0]), Descriptor(ends[1])};
}

// Until the other end is closed or the deadline passes. False: the deadline passed.
bool collect(int fd, Clock::time_point deadline, std::size_t most, std::string& output) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd waiting{fd, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        std::array<char, 4096> piece{};
        const ssize_t got = ::read(fd, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        const std::size_t room = most - std::min(most, output.size());
        output.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
    }
}

// A program may close its output long before it ends. It stays a zombie, so that its number stays taken.
bool ends_before(pid_t child, Clock::time_point deadline) {
    constexpr long look_every = 10;
    const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    for (;;) {
        siginfo_t ended{};
        if (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid == child) {
            return true;
        }
        const long left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        // Before Linux 5.3 there is no descriptor to wait for; poll passes over -1.
        pollfd waiting{process.get(), POLLIN, 0};
        ::poll(&waiting, 1, static_cast<int>(process.open() ? left : std::min(left, look_every)));
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<Outcome> run(const Command& command) {
    if (command.argv.empty() || !command.argv[0].starts_with('/')) {
        return Error{Code::invalid, "a program is named by an absolute path"};
    }
    const std::string& program = command.argv[0];
    auto output = make_pipe();
    auto failure = make_pipe();
    if (!output) return output.error();
    if (!failure) return failure.error();
    auto& [output_end, output_start] = output.value();
    auto& [failure_end, failure_start] = failure.value();
    const Prepared prepared{pointers(command.argv), pointers(command.environment), output_start.get(),
                            failure_start.get(),
                            command.gid ? command.gid : std::optional<gid_t>(command.uid)};
    const pid_t child = ::fork();
    if (child < 0) return Error{Code::internal, "cannot start " + program + ": " + reason_of(errno)};
    if (child == 0) become(command, prepared);

    output_start.reset();
    failure_start.reset();
    int error_number = 0;
    ssize_t told = 0;
    do {
        told = ::read(failure_end.get(), &error_number, sizeof error_number);
    } while (told < 0 && errno == EINTR);
    if (told == static_cast<ssize_t>(sizeof error_number)) {
        wait_for(child);
        return Error{error_number == ENOENT ? Code::missing : Code::internal,
                     "cannot start " + program + ": " + reason_of(error_number)};
    }
    Outcome outcome;
    const Clock::time_point deadline = Clock::now() + command.deadline;
    const bool ended = collect(output_end.get(), deadline, command.most_output, outcome.output) &&
                       ends_before(child, deadline);
    // Also what it left behind: its number, and so its group's, is taken until wait_for() has seen its end.
    ::kill(-child, SIGKILL);
    outcome.exit_code = wait_for(child);
    if (!ended) {
        return Error{Code::timeout,
                     program + " took longer than " + std::to_string(command.deadline.count()) + " ms"};
    }
    return outcome;
}

std::string last_line(const std::string& output) {
    std::size_t end = output.find_last_not_of(" \t\r\n");
    if (end == std::string::npos) return {};
    const std::size_t newline = output.rfind('\n', end);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    return output.substr(begin, end - begin + 1);
}

}  // namespace llmgw
