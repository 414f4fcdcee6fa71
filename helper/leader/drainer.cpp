#include "leader/drainer.hpp"

#include <sys/eventfd.h>

#include <algorithm>

#include "leader/site_runs.hpp"
#include "posix/log.hpp"

namespace llmgw::leader {
namespace {

void signal(const Descriptor& stop) {
    if (stop.open()) ::eventfd_write(stop.get(), 1);
}

}  // namespace

void Drainer::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const auto& [node, job] : jobs_) signal(job.stop);
        changed_.notify_all();
    }
    // With stopping_ set nobody adds one.
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void Drainer::look(const std::string& node) {
    const LeaseTask task = leases_.task(node, *site_.now());
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (task.kind == LeaseTask::Kind::nothing && !jobs_.contains(node)) return;
    Job& job = jobs_[node];
    if (job.running) {
        job.again = true;
        if (task.epoch != job.task.epoch) signal(job.stop);
        return;
    }
    job.pause = limits::first_lease_pause;
    schedule(node, job, Clock::now());
    if (agenda_.size() > idle_ && threads_.size() < limits::site_commands_at_once)
        threads_.emplace_back([this] { work(); });
}

void Drainer::look_everywhere() {
    for (const std::string& node : leases_.unsettled()) look(node);
}

void Drainer::schedule(const std::string& node, Job& job, Clock::time_point due) {
    agenda_.erase({job.due, node});
    job.due = due;
    agenda_.emplace(due, node);
    changed_.notify_one();
}

void Drainer::work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (agenda_.empty() || agenda_.begin()->first > Clock::now()) {
            ++idle_;
            if (agenda_.empty()) {
                changed_.wait(lock);
            } else {
                changed_.wait_until(lock, Clock::time_point(agenda_.begin()->first));
            }
            --idle_;
            continue;
        }
        const std::string node = agenda_.begin()->second;
        agenda_.erase(agenda_.begin());
        // std::map's nodes stay where they are, and only this thread removes this one.
        Job& job = jobs_[node];
        const std::shared_ptr<const SiteCommands> commands = site_.now();
        const LeaseTask task = leases_.task(node, *commands);
        if (!(task == job.task)) job.pause = limits::first_lease_pause;
        job.task = task;
        job.running = true;
        job.again = false;
        job.stop = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        const int stop = job.stop.get();
        lock.unlock();
        const bool more = run_one(node, task, *commands, stop);
        lock.lock();
        job.running = false;
        job.stop.reset();
        if (more || job.again) {
            schedule(node, job, job.again ? Clock::now() : Clock::now() + job.pause);
            job.pause = std::min(2 * job.pause, longest_pause_);
        } else {
            jobs_.erase(node);
        }
    }
}

// True: there is more to do.
bool Drainer::settle(const std::string& node, Result<bool> noted) {
    if (!noted) {
        log(Level::error, "the lease of " + node + ": " + noted.error().message);
        return true;
    }
    if (noted.value()) news_(node);
    return false;
}

bool Drainer::run_one(const std::string& node, const LeaseTask& task, const SiteCommands& commands,
                      int stop) {
    const auto unknown = [&](const SiteRun& run, std::optional<std::uint32_t> replicas) {
        settle(node, leases_.note(node, task.epoch, replicas, run.reason));
        return true;
    };
    switch (task.kind) {
        case LeaseTask::Kind::nothing:
            return false;
        case LeaseTask::Kind::drain: {
            const SiteRun run = run_drain(commands, node, stop);
            if (run.kind == SiteRun::Kind::refused)
                return settle(node, leases_.note_refused(node, task.epoch, run.reason));
            if (run.kind == SiteRun::Kind::unknown) return unknown(run, std::nullopt);
            if (!leases_.note_drained(node, task.epoch)) return true;
            // The next task is asked for under the same rules, and not after a pause.
            return run_one(node, leases_.task(node, commands), commands, stop);
        }
        case LeaseTask::Kind::count: {
            const SiteRun run = run_replicas(commands, node, stop);
            const bool counted = run.kind == SiteRun::Kind::done;
            if (counted && run.replicas == 0) return settle(node, leases_.note_free(node, task.epoch));
            return unknown(run, counted ? std::optional(run.replicas) : std::nullopt);
        }
        case LeaseTask::Kind::settle: {
            const bool released = leases_.answer(node).state == name_of(LeaseState::none);
            return settle(node, released ? leases_.note_released(node, task.epoch)
                                         : leases_.note_free(node, task.epoch));
        }
        case LeaseTask::Kind::release: {
            const SiteRun run = run_release(commands, node, stop);
            if (run.kind == SiteRun::Kind::done) return settle(node, leases_.note_released(node, task.epoch));
            return unknown(run, std::nullopt);
        }
    }
    return false;
}

}  // namespace llmgw::leader
