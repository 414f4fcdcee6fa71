#include "posix/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "posix/descriptor.hpp"
#include "posix/file.hpp"
#include "posix/launch.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

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

}  // namespace

Result<Outcome> run(const Command& command) {
    auto output = make_pipe();
    if (!output) return output.error();
    auto& [output_end, output_start] = output.value();
    Launch start;
    start.argv = command.argv;
    start.environment = command.environment;
    start.uid = command.uid;
    start.gid = command.gid;
    start.output = output_start.get();
    const Result<pid_t> launched = launch(start);
    if (!launched) return launched.error();
    const pid_t child = launched.value();
    output_start.reset();
    Outcome outcome;
    const Clock::time_point deadline = Clock::now() + command.deadline;
    const bool ended = collect(output_end.get(), deadline, command.most_output, outcome.output) &&
                       ends_before(child, deadline);
    // Also what it left behind: its number, and so its group's, is taken until bury() has seen its end.
    ::kill(-child, SIGKILL);
    outcome.exit_code = bury(child);
    if (!ended) {
        return Error{Code::timeout, command.argv[0] + " took longer than " +
                                        std::to_string(command.deadline.count()) + " ms"};
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
