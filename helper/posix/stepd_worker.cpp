#include "posix/stepd_worker.hpp"

#include <fcntl.h>
#include <poll.h>
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
#include "posix/file.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

enum class Say : std::uint32_t {
    trying,   // about to ask the step
    owned,    // it is the user's; waits for an order
    done,     // no more steps
    failed,   // libslurm can't be used; ends
    fine,     // the order was carried out
    refused,  // it was not
};
enum class Order : std::uint32_t { next, adopt, namespaces };

struct Message {
    Say say;
    std::uint32_t step;
    std::int32_t number;  // owned: slurmstepd's process; failed, refused: the error's code; fine: namespaces
    std::array<std::int32_t, 8> types;
    std::array<char, 400> text;
};
struct Request {
    Order order;
    std::int32_t process;
};

long long now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

// The bytes of an array of descriptors beside a message (cmsg(3)).
union Attached {
    cmsghdr alignment;
    std::array<char, CMSG_SPACE(8 * sizeof(int))> bytes;
};

bool send_message(int channel, const Message& message, const std::vector<JobNamespace>* files) {
    iovec part{const_cast<Message*>(&message), sizeof message};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    Attached attached{};
    if (files != nullptr && !files->empty()) {
        std::array<int, 8> numbers{};
        for (std::size_t i = 0; i < files->size(); ++i) numbers[i] = (*files)[i].file.get();
        const std::size_t size = files->size() * sizeof(int);
        header.msg_control = attached.bytes.data();
        header.msg_controllen = CMSG_SPACE(size);
        cmsghdr* control = CMSG_FIRSTHDR(&header);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(size);
        std::memcpy(CMSG_DATA(control), numbers.data(), size);
    }
    return ::sendmsg(channel, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
}

// ---- in the worker

Message say(Say what, std::size_t step, int number = 0) {
    Message message{};
    message.say = what;
    message.step = static_cast<std::uint32_t>(step);
    message.number = number;
    return message;
}

Message complaint(Say what, std::size_t step, const Error& error) {
    Message message = say(what, step, static_cast<int>(error.code));
    const std::size_t length = std::min(error.message.size(), message.text.size() - 1);
    std::copy_n(error.message.data(), length, message.text.data());
    return message;
}

// The other end must be root's or our own: a socket of that name that somebody else listens on is no
// slurmstepd.
std::optional<pid_t> trusted_peer(int connection) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    if (peer.uid != 0 && peer.uid != ::geteuid()) return std::nullopt;
    return peer.pid;
}

// Carries out orders for a step of the user's until the next one is wanted. False: the caller is gone.
bool serve(int channel, const SlurmLibrary& library, const SlurmLibrary::Connection& connection,
           std::size_t step) {
    for (;;) {
        Request request{};
        if (::recv(channel, &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request))
            return false;
        if (request.order == Order::next) return true;
        Result<std::vector<JobNamespace>> files = std::vector<JobNamespace>();
        if (request.order == Order::adopt) {
            if (Result<void> adopted = library.adopt(connection, request.process); !adopted) {
                files = adopted.error();
            }
        } else {
            files = library.namespaces(connection);
            if (files && files.value().size() > 8) files = Error{Code::too_large, "too many namespaces"};
        }
        bool sent = false;
        if (!files) {
            sent = send_message(channel, complaint(Say::refused, step, files.error()), nullptr);
        } else {
            Message message = say(Say::fine, step, static_cast<int>(files.value().size()));
            for (std::size_t i = 0; i < files.value().size(); ++i) message.types[i] = files.value()[i].type;
            sent = send_message(channel, message, &files.value());
        }
        if (!sent) return false;
    }
}

void look_through(int channel, const std::string& path, const std::vector<ExternStep>& steps,
                  std::size_t from, uid_t owner) {
    const Result<SlurmLibrary> library = SlurmLibrary::load(path);
    if (!library) {
        send_message(channel, complaint(Say::failed, from, library.error()), nullptr);
        return;
    }
    for (std::size_t at = from; at < steps.size(); ++at) {
        if (!send_message(channel, say(Say::trying, at), nullptr)) return;
        const Result<SlurmLibrary::Connection> connection = library.value().connect(steps[at]);
        if (!connection) continue;
        const std::optional<pid_t> slurmstepd = trusted_peer(connection.value().file.get());
        if (!slurmstepd) continue;
        const Result<uid_t> uid = library.value().owner(connection.value());
        if (!uid || uid.value() != owner) continue;
        if (!send_message(channel, say(Say::owned, at, *slurmstepd), nullptr)) return;
        if (!serve(channel, library.value(), connection.value(), at)) return;
    }
    send_message(channel, say(Say::done, steps.size()), nullptr);
}

// Nothing of the caller's is left but the channel, as descriptor 3.
int leave_caller(int channel) {
    constexpr int place = 3;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (channel != place && ::dup2(channel, place) < 0) ::_exit(1);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < place; ++fd) {
        if (::dup2(nothing, fd) < 0) ::_exit(1);
    }
    if (::syscall(SYS_close_range, place + 1, ~0U, 0) != 0) {
        for (int fd = place + 1; fd < 1024; ++fd) ::close(fd);
    }
    ::clearenv();
    for (const int number : {SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGTERM}) ::signal(number, SIG_DFL);
    return place;
}

}  // namespace

// ---- in the caller

StepdWorker::StepdWorker(std::string library, std::vector<ExternStep> steps, uid_t owner)
    : library_(std::move(library)),
      steps_(std::move(steps)),
      owner_(owner),
      deadline_ms_(now_ms() + std::chrono::milliseconds(limits::stepd_answers).count()) {}

StepdWorker::~StepdWorker() {
    stop();
}

Result<void> StepdWorker::start() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return Error{Code::internal, "cannot make a pair of sockets: " + reason_of(errno)};
    }
    channel_ = Descriptor(ends[0]);
    Descriptor far(ends[1]);
    process_ = ::fork();
    if (process_ < 0) {
        const int error_number = errno;
        channel_.reset();
        return Error{Code::internal, "cannot start a process: " + reason_of(error_number)};
    }
    if (process_ == 0) {
        // What is thrown here must end nowhere but here.
        try {
            look_through(leave_caller(far.get()), library_, steps_, from_, owner_);
        } catch (...) {
        }
        ::_exit(0);
    }
    return {};
}

void StepdWorker::stop() noexcept {
    channel_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
}

// The step that the worker hangs on: it is passed over by the next worker.
void StepdWorker::give_up(std::size_t at) {
    stop();
    if (at < steps_.size()) silent_.push_back(steps_[at].job);
    from_ = at + 1;
}

namespace {

struct Answer {
    Message message{};
    std::vector<JobNamespace> files;
};

// Errors: timeout, internal (the worker is gone).
Result<Answer> answer_from(int channel, long long until_ms) {
    for (;;) {
        const long long left = until_ms - now_ms();
        pollfd waiting{channel, POLLIN, 0};
        const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return Error{Code::timeout, "no answer"};
        break;
    }
    Answer answer;
    iovec part{&answer.message, sizeof answer.message};
    Attached attached{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = attached.bytes.data();
    header.msg_controllen = attached.bytes.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(channel, &header, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const cmsghdr* control = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
    if (control != nullptr && control->cmsg_type == SCM_RIGHTS) {
        const std::size_t count = std::min<std::size_t>((control->cmsg_len - CMSG_LEN(0)) / sizeof(int), 8);
        std::array<int, 8> numbers{};
        std::memcpy(numbers.data(), CMSG_DATA(control), count * sizeof(int));
        for (std::size_t i = 0; i < count; ++i) {
            answer.files.push_back({answer.message.types[i], Descriptor(numbers[i])});
        }
    }
    if (got != static_cast<ssize_t>(sizeof answer.message)) {
        return Error{Code::internal, "the process that asks Slurm ended"};
    }
    answer.message.text.back() = '\0';
    return answer;
}

bool order(int channel, Order what, pid_t process = 0) {
    const Request request{what, process};
    return ::send(channel, &request, sizeof request, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request);
}

Error error_in(const Message& message) {
    const bool known = message.number >= 0 && message.number <= static_cast<int>(Code::internal);
    return {known ? static_cast<Code>(message.number) : Code::internal, message.text.data()};
}

}  // namespace

Result<std::optional<OwnedStep>> StepdWorker::next() {
    constexpr long long one_ms = std::chrono::milliseconds(limits::stepd_answer).count();
    if (channel_.open() && !order(channel_.get(), Order::next)) stop();
    while (from_ < steps_.size()) {
        if (now_ms() >= deadline_ms_) return Error{Code::timeout, "the slurmstepds here don't answer"};
        if (!channel_.open()) {
            if (Result<void> started = start(); !started) return started.error();
        }
        const Result<Answer> answer = answer_from(channel_.get(), std::min(now_ms() + one_ms, deadline_ms_));
        if (!answer) {
            give_up(from_);
            continue;
        }
        const Message& message = answer.value().message;
        if (message.say == Say::failed) return error_in(message);
        if (message.say == Say::done || message.step >= steps_.size()) from_ = steps_.size();
        if (message.say == Say::trying) from_ = message.step;
        if (message.say == Say::owned && message.step < steps_.size()) {
            current_ = message.step;
            from_ = current_ + 1;
            return std::optional<OwnedStep>(OwnedStep{steps_[current_], message.number});
        }
    }
    stop();
    return std::optional<OwnedStep>();
}

Result<void> StepdWorker::adopt(pid_t process) {
    constexpr long long one_ms = std::chrono::milliseconds(limits::stepd_answer).count();
    if (!channel_.open() || !order(channel_.get(), Order::adopt, process)) {
        return Error{Code::internal, "the process that asks Slurm ended"};
    }
    const Result<Answer> answer = answer_from(channel_.get(), now_ms() + one_ms);
    if (!answer) {
        give_up(current_);
        return Error{answer.error().code, "its slurmstepd doesn't answer"};
    }
    if (answer.value().message.say != Say::fine) return error_in(answer.value().message);
    return {};
}

Result<std::vector<JobNamespace>> StepdWorker::namespaces() {
    constexpr long long one_ms = std::chrono::milliseconds(limits::stepd_answer).count();
    if (!channel_.open() || !order(channel_.get(), Order::namespaces)) {
        return Error{Code::internal, "the process that asks Slurm ended"};
    }
    Result<Answer> answer = answer_from(channel_.get(), now_ms() + one_ms);
    if (!answer) {
        give_up(current_);
        return Error{answer.error().code, "its slurmstepd doesn't answer"};
    }
    const Message& message = answer.value().message;
    if (message.say != Say::fine) return error_in(message);
    if (static_cast<std::size_t>(message.number) != answer.value().files.size()) {
        return Error{Code::internal, "a descriptor of the job's namespaces got lost"};
    }
    return std::move(answer).value().files;
}

}  // namespace llmgw
