#include "packages/locks.hpp"

#include <fcntl.h>

#include <charconv>
#include <condition_variable>
#include <mutex>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw::packages {
namespace {

constexpr std::size_t small_file = 4096;

std::string_view first_line(std::string_view text) {
    return trimmed(text.substr(0, text.find('\n')));
}

std::string name_of(pid_t pid) {
    if (pid <= 0) return {};
    const Result<std::string> name = read_file("/proc/" + std::to_string(pid) + "/comm", small_file);
    return name ? printable(first_line(name.value())) : "";
}

}  // namespace

std::optional<LockHolder> fcntl_holder(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file.open()) return std::nullopt;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
    // 0: in another PID namespace; -1: a lock of an open file, which any number of processes may share.
    const pid_t pid = lock.l_pid > 0 ? lock.l_pid : 0;
    return LockHolder{path, pid, name_of(pid)};
}

std::optional<LockHolder> pid_file_holder(const std::string& path) {
    const Result<std::string> text = read_file(path, small_file);
    if (!text) return std::nullopt;
    const std::string_view number = first_line(text.value());
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pid);
    if (error != std::errc() || end != number.data() + number.size() || pid <= 0) return std::nullopt;
    const std::string name = name_of(pid);
    if (name.empty()) return std::nullopt;
    return LockHolder{path, pid, name};
}

std::string text_of(const LockHolder& holder) {
    std::string who = holder.name.empty() ? "another process" : holder.name;
    if (holder.pid > 0) who += " (PID " + std::to_string(holder.pid) + ")";
    return who + ", which holds " + holder.path;
}

Result<void> wait_until_free(const Held& held, std::chrono::steady_clock::time_point until,
                             const Progress& progress, const std::stop_token& stop) {
    std::optional<LockHolder> last;
    for (;;) {
        const std::optional<LockHolder> holder = held();
        if (!holder) return {};
        if (holder != last && progress) progress("waiting for " + text_of(*holder));
        last = holder;
        if (std::chrono::steady_clock::now() >= until) {
            return Error{Code::timeout,
                         "gave up waiting for " + text_of(*holder) +
                             "; nothing was changed, and trying again when it is done will do"};
        }
        if (!pause_for(limits::package_lock_look_every, stop)) {
            return Error{Code::unavailable, "stopped while waiting for " + text_of(*holder)};
        }
    }
}

bool pause_for(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

}  // namespace llmgw::packages
