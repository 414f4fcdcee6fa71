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

// A stream of the program's, and where it goes.
struct Stream {
    Descriptor end;
    Descriptor start;  // the program's
    std::string* text = nullptr;
};

enum class Ending { closed, late, stopped };

// Reads what is there. False: the other end is closed.
bool read_some(int fd, std::size_t most, std::string& text) {
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    const std::size_t room = most - std::min(most, text.size());
    text.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
    return true;
}

// Until all other ends are closed.
Ending collect(std::array<Stream, 2>& streams, const Command& command, Clock::time_point deadline) {
    for (;;) {
        // poll passes over -1.
        std::array<pollfd, 3> waiting{{{streams[0].end.get(), POLLIN, 0},
                                       {streams[1].end.get(), POLLIN, 0},
                                       {command.stop, POLLIN, 0}}};
        if (!streams[0].end.open() && !streams[1].end.open()) return Ending::closed;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return Ending::late;
        const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return Ending::late;
        if (waiting[2].revents != 0) return Ending::stopped;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            if (waiting.at(i).revents == 0) continue;
            Stream& stream = streams.at(i);
            if (!read_some(stream.end.get(), command.most_output, *stream.text)) stream.end.reset();
        }
    }
}

// Of a program that closed its output and goes on.
Ending await_end(pid_t child, const Command& command, Clock::time_point deadline) {
    constexpr std::chrono::milliseconds look_every{100};
    for (;;) {
        const Clock::time_point next =
            command.stop < 0 ? deadline : std::min(deadline, Clock::now() + look_every);
        if (ends_before(child, next)) return Ending::closed;
        if (next == deadline) return Ending::late;
        pollfd stop{command.stop, POLLIN, 0};
        if (::poll(&stop, 1, 0) > 0) return Ending::stopped;
    }
}

}  // namespace

Result<Outcome> run(const Command& command) {
    Outcome outcome;
    std::array<Stream, 2> streams;
    for (std::size_t i = 0; i < (command.errors_apart ? 2U : 1U); ++i) {
        auto ends = make_pipe();
        if (!ends) return ends.error();
        streams.at(i) = {std::move(ends.value().first), std::move(ends.value().second),
                         i == 0 ? &outcome.output : &outcome.errors};
    }
    Launch start;
    start.argv = command.argv;
    start.environment = command.environment;
    start.uid = command.uid;
    start.gid = command.gid;
    start.output = streams[0].start.get();
    start.errors = streams[1].start.get();
    const Result<pid_t> launched = launch(start);
    if (!launched) return launched.error();
    const pid_t child = launched.value();
    for (Stream& stream : streams) stream.start.reset();
    const Clock::time_point deadline = Clock::now() + command.deadline;
    Ending ending = collect(streams, command, deadline);
    if (ending == Ending::closed) ending = await_end(child, command, deadline);
    // Also what it left behind: its number, and so its group's, is taken until bury() has seen its end.
    ::kill(-child, SIGKILL);
    outcome.exit_code = bury(child);
    if (ending == Ending::stopped)
        return Error{Code::unavailable, command.argv[0] + " was ended: it is not wanted any more"};
    if (ending == Ending::late) {
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
