#include "posix/step_search.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "core/limits.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

// The other end must be root's or our own: a socket of that name that somebody else listens on is no
// slurmstepd.
std::optional<pid_t> trusted_peer(int connection) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    if (peer.uid != 0 && peer.uid != ::geteuid()) return std::nullopt;
    return peer.pid;
}

// What a slurmstepd is asked, with a limit: the thread stays behind where it hangs.
template <class T>
Result<T> limited(std::function<Result<T>()> call) {
    auto task = std::make_shared<std::packaged_task<Result<T>()>>(std::move(call));
    std::future<Result<T>> result = task->get_future();
    std::thread([task] { (*task)(); }).detach();
    if (result.wait_for(limits::stepd_answer) != std::future_status::ready) {
        return Error{Code::timeout, "its slurmstepd doesn't answer"};
    }
    return result.get();
}

}  // namespace

StepSearch::StepSearch(SlurmLibrary library, std::vector<ExternStep> steps, uid_t owner)
    : library_(library), steps_(std::move(steps)), owner_(owner), probes_(steps_.size()) {}

void StepSearch::begin() {
    // A slurmstepd makes a thread for each connection, which is what takes time; more than a few ask in vain.
    for (std::size_t i = 0; i < std::min(limits::stepd_threads, steps_.size()); ++i) start_thread();
}

void StepSearch::start_thread() {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
}

void StepSearch::work() {
    std::unique_lock lock(mutex_);
    while (next_ < steps_.size()) {
        const std::size_t at = next_++;
        probes_[at].begun = true;
        probes_[at].since = Clock::now();
        lock.unlock();
        Probe found = ask(steps_[at]);
        lock.lock();
        // One that was given up meanwhile stays so.
        if (probes_[at].answer == StepAnswer::none) probes_[at] = std::move(found);
        changed_.notify_all();
    }
}

StepSearch::Probe StepSearch::ask(const ExternStep& step) const {
    Probe found;
    found.answer = StepAnswer::unreachable;
    Result<SlurmLibrary::Connection> connection = library_.connect(step);
    if (!connection) return found;
    const std::optional<pid_t> peer = trusted_peer(connection.value().file.get());
    if (!peer) return found;
    const Result<uid_t> uid = library_.owner(connection.value());
    if (!uid) return found;
    found.answer = uid.value() == owner_ ? StepAnswer::owned : StepAnswer::foreign;
    found.slurmstepd = *peer;
    if (found.answer == StepAnswer::owned) found.connection = std::move(connection).value();
    return found;
}

StepAnswer StepSearch::answer_of(std::size_t step) {
    std::unique_lock lock(mutex_);
    Probe& probe = probes_[step];
    for (;;) {
        if (probe.answer != StepAnswer::none) return probe.answer;
        // Not begun: earlier ones are waited for, each with its own limit.
        const Clock::time_point end = (probe.begun ? probe.since : Clock::now()) + limits::stepd_answer;
        changed_.wait_until(lock, end);
        if (probe.answer == StepAnswer::none && probe.begun &&
            Clock::now() >= probe.since + limits::stepd_answer) {
            probe.answer = StepAnswer::silent;
            // In place of the one that hangs.
            start_thread();
        }
    }
}

pid_t StepSearch::slurmstepd_of(std::size_t step) {
    const std::scoped_lock lock(mutex_);
    return probes_[step].slurmstepd;
}

Result<void> StepSearch::adopt(std::size_t step, pid_t process) {
    return limited<void>([self = shared_from_this(), step, process] {
        return self->library_.adopt(self->probes_[step].connection, process);
    });
}

Result<std::vector<JobNamespace>> StepSearch::namespaces(std::size_t step) {
    return limited<std::vector<JobNamespace>>([self = shared_from_this(), step] {
        return self->library_.namespaces(self->probes_[step].connection);
    });
}

std::vector<StepAnswer> StepSearch::answers() {
    const std::scoped_lock lock(mutex_);
    std::vector<StepAnswer> found;
    for (const Probe& probe : probes_) found.push_back(probe.answer);
    return found;
}

}  // namespace llmgw
