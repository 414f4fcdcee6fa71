#include "posix/events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "posix/file.hpp"

namespace llmgw {

Result<Signals> Signals::block(const std::vector<int>& signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
        return Error{Code::internal, "cannot block signals: " + reason_of(error)};
    }
    Descriptor file(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!file.open()) return Error{Code::internal, "cannot poll for signals: " + reason_of(errno)};
    return Signals(std::move(file));
}

std::optional<int> Signals::next() const {
    signalfd_siginfo info{};
    if (::read(file_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
}

Result<DirectoryWatch> DirectoryWatch::open(const std::string& directory) {
    Descriptor file(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    const std::uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
    if (!file.open() || ::inotify_add_watch(file.get(), directory.c_str(), events) < 0) {
        return Error{Code::internal, "cannot watch " + directory + ": " + reason_of(errno)};
    }
    return DirectoryWatch(std::move(file));
}

std::vector<std::string> DirectoryWatch::changed() const {
    std::vector<std::string> names;
    // Room for at least one event with the longest name.
    alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
    for (;;) {
        const ssize_t got = ::read(file_.get(), buffer.data(), buffer.size());
        if (got <= 0) return names;
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof(event));
            // The name is padded with NULs up to `len`.
            const char* const name = buffer.data() + at + sizeof(event);
            names.emplace_back(name, ::strnlen(name, event.len));
            at += sizeof(event) + event.len;
        }
    }
}

void wait_for_any(const std::vector<int>& descriptors, std::chrono::milliseconds most) {
    std::vector<pollfd> polled;
    for (const int fd : descriptors) polled.push_back({fd, POLLIN, 0});
    // Whatever it returns, the caller looks at all of them.
    static_cast<void>(::poll(polled.data(), polled.size(), static_cast<int>(most.count())));
}

Result<Descriptor> lock_file(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.open()) return Error{Code::internal, "cannot open " + path + ": " + reason_of(errno)};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    if (errno == EWOULDBLOCK) return Error{Code::conflict, path + " is locked by another process"};
    return Error{Code::internal, "cannot lock " + path + ": " + reason_of(errno)};
}

void allow_all_open_files() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
}

}  // namespace llmgw
