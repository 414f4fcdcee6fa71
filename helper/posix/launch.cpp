#include "posix/launch.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
    std::optional<gid_t> gid;
    int failure;
};

// CLOSE_RANGE_CLOEXEC, which not every libc has. Linux 5.11; before that the descriptors' own flags count.
constexpr unsigned close_on_exec = 1U << 2U;

// mount_setattr (Linux 5.12), with libcs that don't know it.
void set_read_only(const char* path, bool read_only, bool and_below) {
    constexpr long number = 442;
    constexpr unsigned recursive = 0x8000;
    constexpr std::uint64_t flag = 1;
    struct {
        std::uint64_t set, clear, propagation, user_namespace;
    } attributes{read_only ? flag : 0, read_only ? 0 : flag, 0, 0};
    ::syscall(number, AT_FDCWD, path, and_below ? recursive : 0, &attributes, sizeof attributes);
}

// In the child, as the rest: only async-signal-safe calls. Nothing is checked: see the header.
void confine(const Launch& launch) {
    if (launch.no_network) ::unshare(CLONE_NEWNET);
    if (launch.memory_bytes > 0) {
        const rlimit limit{launch.memory_bytes, launch.memory_bytes};
        ::setrlimit(RLIMIT_AS, &limit);
    }
    if (!launch.private_tmp && !launch.read_only) return;
    // Private, or the mounts below would show on the host.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        return;
    }
    if (launch.read_only) {
        for (const std::string& path : launch.writable) {
            ::mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr);
        }
        set_read_only("/", true, true);
        // Programs write their own entries there; what isn't theirs is protected by its mode.
        set_read_only("/proc", false, false);
        set_read_only("/dev", false, false);
        for (const std::string& path : launch.writable) set_read_only(path.c_str(), false, false);
    }
    for (const char* path : {"/tmp", "/var/tmp"}) {
        if (!launch.private_tmp) break;
        ::mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
    }
}

// Between fork and exec. Says over `failure` why exec did not happen.
[[noreturn]] void become(const Launch& launch, const Prepared& prepared) {
    if (launch.session) {
        ::setsid();
    } else {
        ::setpgid(0, 0);
    }
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool fine = nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0;
    const int errors = launch.errors < 0 ? launch.output : launch.errors;
    fine = fine && ::dup2(launch.output, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0;
    ::umask(022);
    // Whatever we ignore, or whoever started us: a shell has what runs behind it ignore SIGINT and SIGQUIT.
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // Whoever forgot CLOEXEC: nothing else that is open here is the program's business.
    ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, close_on_exec);
    confine(launch);
    if (fine && prepared.gid) fine = ::setgroups(0, nullptr) == 0 && ::setgid(*prepared.gid) == 0;
    if (fine && launch.uid) fine = ::setuid(*launch.uid) == 0;
    if (fine && launch.no_new_privileges) fine = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (fine) fine = ::chdir(launch.directory.c_str()) == 0;
    if (fine) ::execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
    const int error_number = errno;
    [[maybe_unused]] const ssize_t told = ::write(prepared.failure, &error_number, sizeof error_number);
    ::_exit(127);
}

}  // namespace

Result<pid_t> launch(const Launch& launch) {
    if (launch.argv.empty() || !launch.argv[0].starts_with('/')) {
        return Error{Code::invalid, "a program is named by an absolute path"};
    }
    const std::string& program = launch.argv[0];
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error{Code::internal, "cannot make a pipe: " + reason_of(errno)};
    }
    const Descriptor failure(ends[0]);
    Descriptor failure_start(ends[1]);
    const Prepared prepared{pointers(launch.argv), pointers(launch.environment),
                            launch.gid ? launch.gid : std::optional<gid_t>(launch.uid), ends[1]};
    const pid_t child = ::fork();
    if (child < 0) return Error{Code::internal, "cannot start " + program + ": " + reason_of(errno)};
    if (child == 0) become(launch, prepared);

    failure_start.reset();
    int error_number = 0;
    ssize_t told = 0;
    do {
        told = ::read(failure.get(), &error_number, sizeof error_number);
    } while (told < 0 && errno == EINTR);
    if (told == static_cast<ssize_t>(sizeof error_number)) {
        bury(child);
        return Error{error_number == ENOENT ? Code::missing : Code::internal,
                     "cannot start " + program + ": " + reason_of(error_number)};
    }
    return child;
}

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

int bury(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace llmgw
