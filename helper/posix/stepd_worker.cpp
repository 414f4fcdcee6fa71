#include "posix/stepd_worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/limits.hpp"
#include "posix/cgroup_files.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_files = 8;  // Linux has as many kinds of namespaces

// The bytes of an array of descriptors beside a message (cmsg(3)).
union Attached {
    cmsghdr alignment;
    std::array<char, CMSG_SPACE(most_files * sizeof(int))> bytes;
};

// ---- in the worker

std::string job_name(const ExternStep& step) {
    return "job " + std::to_string(step.job);
}

void send_taken(int channel, const Taken& taken) {
    std::string text = format_login_taken(taken.login);
    iovec part{text.data(), text.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    Attached attached{};
    const std::size_t count = std::min(taken.namespaces.size(), most_files);
    if (count > 0) {
        std::array<int, most_files> numbers{};
        for (std::size_t i = 0; i < count; ++i) numbers[i] = taken.namespaces[i].file.get();
        header.msg_control = attached.bytes.data();
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* control = CMSG_FIRSTHDR(&header);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(count * sizeof(int));
        std::memcpy(CMSG_DATA(control), numbers.data(), count * sizeof(int));
    }
    [[maybe_unused]] const ssize_t sent = ::sendmsg(channel, &header, MSG_NOSIGNAL);
}

// Where the step's processes are. conflict: it is suspended, and whoever joins it stands still.
Result<StepPlace> place_of(const ExternStep& step, pid_t slurmstepd) {
    const Result<Cgroups> daemon = cgroups_of(slurmstepd);
    if (!daemon) return daemon.error();
    std::optional<StepPlace> place = extern_step_place(daemon.value());
    if (!place) {
        return Error{Code::invalid, "Slurm doesn't know the processes of " + job_name(step) +
                                        " by cgroups; an administrator has to set "
                                        "ProctrackType=proctrack/cgroup in slurm.conf"};
    }
    if (is_frozen(*place)) return Error{Code::conflict, "suspended"};
    return StepPlace{place->tracker, place->path};
}

// A step's slurmstepd that was reached.
struct Reached {
    SlurmLibrary::Connection connection;
    pid_t slurmstepd = 0;
    uid_t owner = 0;
};

// The other end must be root's or our own: a socket of that name that somebody else listens on is no
// slurmstepd.
std::optional<pid_t> trusted_peer(int connection) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    if (peer.uid != 0 && peer.uid != ::geteuid()) return std::nullopt;
    return peer.pid;
}

std::optional<Reached> reach(const SlurmLibrary& library, const ExternStep& step) {
    Result<SlurmLibrary::Connection> connection = library.connect(step);
    if (!connection) return std::nullopt;
    const std::optional<pid_t> peer = trusted_peer(connection.value().file.get());
    if (!peer) return std::nullopt;
    const Result<uid_t> uid = library.owner(connection.value());
    if (!uid) return std::nullopt;
    return Reached{std::move(connection).value(), *peer, uid.value()};
}

Result<void> take_into(const SlurmLibrary& library, const Reached& reached, std::size_t at,
                       const TakeOrder& order, Taken& taken) {
    const std::string name = job_name(order.steps[at]);
    const Result<StepPlace> place = place_of(order.steps[at], reached.slurmstepd);
    if (!place) return place.error();
    // slurmstepd would still take it, and end it a moment later.
    if (library.keeps_sleeper() && is_deserted(place.value()))
        return Error{Code::missing, name + " is ending"};
    if (Result<void> adopted = library.adopt(reached.connection, order.process); !adopted) {
        return adopted.error().within(name + " could not take the login");
    }
    const Result<Cgroups> now = cgroups_of(order.process);
    if (!now) return now.error();
    if (!escaped_from(now.value(), place.value(), {place.value().tracker}).empty()) {
        return Error{Code::internal, name + " took the login, but not into its cgroup"};
    }
    Result<std::vector<JobNamespace>> namespaces = library.namespaces(reached.connection);
    if (!namespaces) return namespaces.error().within(name + " took the login, but not into its namespaces");
    if (namespaces.value().size() > most_files)
        return Error{Code::too_large, name + " has too many namespaces"};
    taken.namespaces = std::move(namespaces).value();
    for (const JobNamespace& each : taken.namespaces) taken.login.namespaces.push_back(each.type);
    taken.login.step = at;
    taken.login.slurmstepd = reached.slurmstepd;
    taken.login.place = place.value();
    taken.login.held = held_in(now.value(), place.value());
    return {};
}

// Which steps of a node are worth asking, once one of its slurmstepds showed where the cgroups are: asking
// all of them is what takes time on a node with many jobs.
class Worthwhile {
  public:
    explicit Worthwhile(uid_t owner) : owner_(owner) {}
    void learn(const ExternStep& step, pid_t slurmstepd) {
        if (known_ || tried_) return;
        tried_ = true;
        const Result<Cgroups> daemon = cgroups_of(slurmstepd);
        const std::optional<StepPlace> place = daemon ? extern_step_place(daemon.value()) : std::nullopt;
        if (!place) return;
        jobs_ = jobs_beside(*place, owner_);
        known_ = jobs_.has_value();
        of_ = step;
    }
    [[nodiscard]] bool is(const ExternStep& step) const {
        if (!known_ || step.node != of_.node || step.directory != of_.directory) return true;
        return std::find(jobs_->begin(), jobs_->end(), step.job) != jobs_->end();
    }

  private:
    uid_t owner_;
    bool known_ = false;
    bool tried_ = false;
    std::optional<std::vector<std::uint32_t>> jobs_;
    ExternStep of_;
};

void note(LoginTaken& login, const ExternStep& step, const Error& error) {
    // It ended meanwhile, as good as not there.
    if (error.code == Code::missing) return;
    if (error.code == Code::conflict) {
        login.suspended.push_back(step.job);
    } else if (login.failures.size() < limits::login_failures) {
        login.failures.push_back(error.message);
    }
}

// `progress` is seen by the caller: the step that is being asked.
Taken look_through(const TakeOrder& order, std::size_t from, volatile std::size_t* progress) {
    Taken taken;
    const Result<SlurmLibrary> library = SlurmLibrary::load(order.library);
    if (!library) {
        taken.login.error = library.error();
        return taken;
    }
    Worthwhile worthwhile(order.owner);
    for (std::size_t at = from; at < order.steps.size() && !taken.login.step; ++at) {
        const ExternStep& step = order.steps[at];
        *progress = at;
        if (!worthwhile.is(step)) continue;
        const std::optional<Reached> reached = reach(library.value(), step);
        if (!reached) continue;
        if (reached->owner != order.owner) {
            taken.login.foreign.push_back(at);
            worthwhile.learn(step, reached->slurmstepd);
            continue;
        }
        if (Result<void> into = take_into(library.value(), *reached, at, order, taken); !into) {
            note(taken.login, step, into.error());
        }
    }
    return taken;
}

// Nothing of the caller's is left but the channel, as descriptor 3.
int leave_caller(int channel) {
    constexpr int place = 3;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (channel != place && ::dup2(channel, place) < 0) ::_exit(1);
    ::fcntl(place, F_SETFD, FD_CLOEXEC);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < place; ++fd) {
        if (::dup2(nothing, fd) < 0) ::_exit(1);
    }
    if (::syscall(SYS_close_range, place + 1, ~0U, 0) != 0) {
        // Before Linux 5.9.
        for (int fd = place + 1; fd < 1024; ++fd) ::close(fd);
    }
    ::clearenv();
    for (const int number : {SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGTERM}) ::signal(number, SIG_DFL);
    return place;
}

[[noreturn]] void be_worker(int channel, const TakeOrder& order, std::size_t from,
                            volatile std::size_t* progress) {
    // What is thrown here must end nowhere but here.
    try {
        const int kept = leave_caller(channel);
        send_taken(kept, look_through(order, from, progress));
    } catch (...) {
    }
    ::_exit(0);
}

// ---- in the caller

// A number that a child writes.
class SharedNumber {
  public:
    SharedNumber()
        : page_(::mmap(nullptr, sizeof(std::size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                       0)) {}
    ~SharedNumber() {
        if (made()) ::munmap(page_, sizeof(std::size_t));
    }
    SharedNumber(const SharedNumber&) = delete;
    SharedNumber& operator=(const SharedNumber&) = delete;
    [[nodiscard]] bool made() const { return page_ != MAP_FAILED; }
    [[nodiscard]] volatile std::size_t* get() const { return static_cast<volatile std::size_t*>(page_); }

  private:
    void* page_;
};

class Worker {
  public:
    ~Worker() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    Worker() = default;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    Result<void> start(const TakeOrder& order, std::size_t from, volatile std::size_t* progress) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            return Error{Code::internal, "cannot make a pair of sockets: " + reason_of(errno)};
        }
        channel_ = Descriptor(ends[0]);
        const Descriptor far(ends[1]);
        process_ = ::fork();
        if (process_ < 0) return Error{Code::internal, "cannot start a process: " + reason_of(errno)};
        if (process_ == 0) be_worker(far.get(), order, from, progress);
        return {};
    }

    // timeout: one slurmstepd hangs.
    [[nodiscard]] Result<Taken> answer(const volatile std::size_t* progress) const {
        std::size_t seen = *progress;
        Clock::time_point end = Clock::now() + limits::stepd_answer;
        for (;;) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
            pollfd waiting{channel_.get(), POLLIN, 0};
            const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
            if (ready > 0) return receive();
            if (ready < 0 && errno == EINTR) continue;
            if (*progress == seen) return Error{Code::timeout, "no answer"};
            seen = *progress;
            end = Clock::now() + limits::stepd_answer;
        }
    }

  private:
    [[nodiscard]] Result<Taken> receive() const {
        std::string text(limits::login_answer_bytes, '\0');
        iovec part{text.data(), text.size()};
        Attached attached{};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = attached.bytes.data();
        header.msg_controllen = attached.bytes.size();
        ssize_t got = 0;
        do {
            got = ::recvmsg(channel_.get(), &header, MSG_CMSG_CLOEXEC);
        } while (got < 0 && errno == EINTR);
        Taken taken;
        if (const cmsghdr* control = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
            control != nullptr && control->cmsg_type == SCM_RIGHTS) {
            std::array<int, most_files> numbers{};
            const std::size_t count = std::min((control->cmsg_len - CMSG_LEN(0)) / sizeof(int), most_files);
            std::memcpy(numbers.data(), CMSG_DATA(control), count * sizeof(int));
            for (std::size_t i = 0; i < count; ++i) taken.namespaces.push_back({0, Descriptor(numbers[i])});
        }
        if (got <= 0) return Error{Code::internal, "the process that asks Slurm ended"};
        Result<LoginTaken> login =
            parse_login_taken(std::string_view(text).substr(0, static_cast<std::size_t>(got)));
        if (!login) return login.error();
        taken.login = std::move(login).value();
        if (taken.login.namespaces.size() != taken.namespaces.size()) {
            return Error{Code::internal, "a descriptor of the job's namespaces got lost"};
        }
        for (std::size_t i = 0; i < taken.namespaces.size(); ++i) {
            taken.namespaces[i].type = static_cast<int>(taken.login.namespaces[i]);
        }
        return taken;
    }

    pid_t process_ = -1;
    Descriptor channel_;
};

}  // namespace

Result<Taken> take_login(const TakeOrder& order) {
    const Clock::time_point end = Clock::now() + limits::stepd_answers;
    const SharedNumber progress;
    if (!progress.made()) return Error{Code::internal, "cannot map a page: " + reason_of(errno)};
    LoginTaken hung;
    for (std::size_t from = 0; from < order.steps.size();) {
        if (Clock::now() > end) return Error{Code::timeout, "the slurmstepds of this machine don't answer"};
        *progress.get() = from;
        Worker worker;
        if (Result<void> started = worker.start(order, from, progress.get()); !started)
            return started.error();
        Result<Taken> taken = worker.answer(progress.get());
        if (!taken) {
            // It hangs, or ended the process: a new one goes on behind it.
            const std::size_t at =
                std::min(static_cast<std::size_t>(*progress.get()), order.steps.size() - 1);
            note(hung, order.steps[at],
                 {Code::timeout, "the slurmstepd of " + job_name(order.steps[at]) + " doesn't answer"});
            from = std::max(at, from) + 1;
            continue;
        }
        LoginTaken& login = taken.value().login;
        if (login.error) return *login.error;
        if (login.step && *login.step >= order.steps.size()) {
            return Error{Code::internal, "the process that asks Slurm named a step that isn't there"};
        }
        login.failures.insert(login.failures.end(), hung.failures.begin(), hung.failures.end());
        return taken;
    }
    Taken none;
    none.login = std::move(hung);
    return none;
}

}  // namespace llmgw
