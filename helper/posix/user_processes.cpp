#include "posix/user_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/uid_ranges.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

constexpr int look_every_ms = 50;
constexpr std::size_t status_bytes = 64 * 1024;

// "Uid:	real	effective	saved	fs", and "State:	Z (zombie)", which nothing can end.
bool belongs_to(const std::string& status, uid_t uid) {
    if (status.find("\nState:\tZ") != std::string::npos) return false;
    const std::size_t line = status.find("\nUid:\t");
    if (line == std::string::npos) return false;
    const std::string numbers = status.substr(line + 6, status.find('\n', line + 1) - line - 6);
    const std::string wanted = std::to_string(uid);
    const std::size_t tab = numbers.find('\t');
    return numbers.substr(0, tab) == wanted ||
           numbers.substr(tab + 1, numbers.find('\t', tab + 1) - tab - 1) == wanted;
}

std::vector<pid_t> processes() {
    std::vector<pid_t> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
            found.push_back(static_cast<pid_t>(std::atoi(name.c_str())));
    }
    return found;
}

// The process that was looked at and none that has its number since.
bool kill_if_of(pid_t process, uid_t uid) {
    const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0U)));
    if (!handle.open()) return false;
    const Result<std::string> status =
        read_file("/proc/" + std::to_string(process) + "/status", status_bytes);
    if (!status || !belongs_to(status.value(), uid)) return false;
    ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0U);
    return true;
}

}  // namespace

Result<void> end_processes_of(uid_t uid, std::chrono::milliseconds patience) {
    if (uid < first_account_uid || uid > last_account_uid) {
        return Error{Code::invalid, "number " + std::to_string(uid) + " is no account's"};
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    for (;;) {
        pid_t left = 0;
        for (const pid_t process : processes()) {
            if (kill_if_of(process, uid)) left = process;
        }
        if (left == 0) return {};
        if (std::chrono::steady_clock::now() >= end) {
            return Error{Code::timeout, "process " + std::to_string(left) + " of number " +
                                            std::to_string(uid) +
                                            " does not end; perhaps it waits for a file server"};
        }
        ::poll(nullptr, 0, look_every_ms);
    }
}

}  // namespace llmgw
