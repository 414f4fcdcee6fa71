#include "daemon/setup_jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/limits.hpp"
#include "json/dump.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"

namespace llmgw::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t jobs_kept = 16;
// After a failure that nothing was changed about since; doubled each time.
constexpr std::chrono::seconds first_retry = 60s;
constexpr std::chrono::seconds longest_retry = 15min;
// Bytes of a download, for people to read.
constexpr std::chrono::milliseconds bytes_every = 200ms;
constexpr mode_t everyone_reads = 0644;

std::string lines_of(const std::vector<std::string>& left) {
    std::string text = "this machine is as it was before";
    for (const std::string& each : left) text += "; " + each;
    return text;
}

}  // namespace

// Hands what the thread that works says to the loop.
class SetupJobs::Observer final : public service::SetupObserver {
  public:
    explicit Observer(SetupJobs& jobs) : jobs_(jobs) {}

    void on_step(int number, int count, const Step& step) override {
        change([=, title = step.title](Job& job) {
            job.step = title;
            job.step_number = static_cast<std::uint32_t>(number);
            job.step_count = static_cast<std::uint32_t>(count);
            job.bytes_done = job.bytes_total = 0;
            job.note.clear();
        });
    }
    void on_bytes(std::uint64_t done, std::uint64_t total) override {
        const Clock::time_point now = Clock::now();
        if (done != total && now - told_ < bytes_every) return;
        told_ = now;
        change([=](Job& job) {
            job.bytes_done = done;
            job.bytes_total = total;
        });
    }
    void on_note(const std::string& sentence) override {
        change([=](Job& job) { job.note = sentence; });
    }

  private:
    void change(std::function<void(Job&)> how) {
        jobs_.mailbox_.post([&jobs = jobs_, how = std::move(how)] {
            Job* job = jobs.current();
            if (job == nullptr) return;
            const Job before = *job;
            how(*job);
            if (!(*job == before)) jobs.events_.changed(*job);
        });
    }

    SetupJobs& jobs_;
    Clock::time_point told_;
};

SetupJobs::SetupJobs(service::SetupPort* setup, std::string state_dir, Mailbox& mailbox, Events events)
    : setup_(setup), state_dir_(std::move(state_dir)), mailbox_(mailbox), events_(std::move(events)) {
    uninstalled_ = ::access((state_dir_ + "/uninstalled").c_str(), F_OK) == 0;
}

Result<void> SetupJobs::remember_uninstalled(bool uninstalled) {
    const std::string path = state_dir_ + "/uninstalled";
    uninstalled_ = uninstalled;
    if (uninstalled) {
        return write_file_atomically(
            path, "An admin ran \"llmgw-slurm uninstall\"; \"llmgw-slurm apply\" ends this.\n",
            everyone_reads, Durability::durable);
    }
    return remove_file(path);
}

Job* SetupJobs::current() {
    return !jobs_.empty() && jobs_.back().running() ? &jobs_.back() : nullptr;
}

const Job* SetupJobs::find(std::uint32_t id) const {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.id == id; });
    return found == jobs_.end() ? nullptr : &*found;
}

bool SetupJobs::wanted() const {
    return settings_ && check_ &&
           (settings_->wants_setup_on(check_->node.machine) || settings_->is_member(check_->node.machine) ||
            setup_->runs_cluster());
}

bool SetupJobs::wants_containers() const {
    return settings_ && check_ && settings_->wants_containers_on(check_->node.machine);
}

void SetupJobs::settings_are(const ResolvedSettings& settings) {
    if (settings_ && *settings_ == settings) return;
    settings_ = settings;
    failures_ = 0;
    tried_.reset();
    consider();
}

void SetupJobs::machine_is(const MachineCheck& check) {
    check_ = check;
    // As a job left it, not as somebody changed it; settings that came meanwhile were not tried.
    if (std::exchange(look_due_, false) && tried_with_ == settings_) tried_ = check;
    consider();
}

void SetupJobs::may_work_now() {
    if (jobs_.empty() || jobs_.back().state != "failed") return;
    failures_ = 0;
    tried_.reset();
    consider();
}

void SetupJobs::consider() {
    if (setup_ == nullptr || current() != nullptr || look_due_ || !check_) return;
    if (uninstalled_) {
        // A helper that was killed while it took things back goes on with that.
        if (!tried_ && setup_->did_anything()) {
            start("uninstall");
            run_uninstall();
        }
        return;
    }
    if (!wanted()) return;
    // What was tried is tried again when something is another (or later, after a failure); what was done
    // well, when the settings are others, when containers don't work any more, or Slurm's files were changed.
    const bool fits = check_->node.ready || !wants_containers();
    const bool same_cluster = tried_ && tried_->cluster == check_->cluster;
    if (tried_ == check_ || (fits && applied_ == settings_ && same_cluster)) return;
    start("apply");
    run_apply();
}

Job& SetupJobs::start(const std::string& kind) {
    if (jobs_.size() >= jobs_kept) jobs_.pop_front();
    Job job;
    job.id = ++last_id_;
    job.kind = kind;
    jobs_.push_back(std::move(job));
    events_.started(jobs_.back());
    return jobs_.back();
}

void SetupJobs::run_apply() {
    tried_with_ = settings_;
    work_.submit([this, settings = *settings_](const std::stop_token& stop) {
        Observer observer(*this);
        const Result<void> done = setup_->apply(settings, observer, stop);
        // Ending is no failure: the next start goes on.
        if (stop.stop_requested()) return;
        mailbox_.post([this, settings, done] {
            if (done) applied_ = settings;
            ended(done ? Result<std::string>("this machine is as the settings say") : done.error());
        });
    });
}

void SetupJobs::run_uninstall() {
    tried_with_ = settings_;
    work_.submit([this](const std::stop_token& stop) {
        Observer observer(*this);
        const Result<std::vector<std::string>> left = setup_->uninstall(observer, stop);
        if (stop.stop_requested()) return;
        mailbox_.post([this, left] {
            applied_.reset();
            ended(left ? Result<std::string>(lines_of(left.value())) : left.error());
        });
    });
}

void SetupJobs::ended(const Result<std::string>& outcome) {
    Job* job = current();
    if (job == nullptr) return;
    job->state = outcome ? "done" : "failed";
    job->message = outcome ? outcome.value() : outcome.error().message;
    job->note.clear();
    log(outcome ? Level::info : Level::error, job->kind + ": " + job->message);
    failures_ = outcome ? 0 : failures_ + 1;
    look_due_ = true;
    if (!outcome) retry_later();
    events_.ended(*job);
}

void SetupJobs::retry_later() {
    std::chrono::seconds delay = first_retry;
    for (int i = 1; i < failures_ && delay < longest_retry; ++i) delay *= 2;
    delay = std::min(delay, longest_retry);
    clock_.submit([this, delay, failure = failures_](const std::stop_token& stop) {
        if (!pause(stop, delay)) return;
        mailbox_.post([this, failure] {
            if (failures_ != failure) return;
            tried_.reset();
            consider();
        });
    });
}

Result<Job> SetupJobs::apply() {
    if (setup_ == nullptr) return Error{Code::invalid, "this helper only looks at its machine"};
    if (Job* job = current(); job != nullptr) {
        if (job->kind == "apply") return *job;
        return Error{Code::conflict,
                     "this machine is being taken back now; say it again when that has ended"};
    }
    if (!settings_) return Error{Code::unavailable, "there are no settings from the leader yet"};
    if (!check_) return Error{Code::unavailable, "the helper has not looked at its machine yet"};
    if (!settings_->enabled && !wanted())
        return Error{Code::invalid, "this cluster is switched off in the settings (enabled)"};
    if (!wanted()) {
        return Error{Code::invalid,
                     check_->node.machine + " is neither the controller nor a node in the settings"};
    }
    if (const Result<void> forgotten = remember_uninstalled(false); !forgotten) return forgotten.error();
    failures_ = 0;
    const Job job = start("apply");
    run_apply();
    return job;
}

Result<Job> SetupJobs::uninstall(bool force) {
    if (setup_ == nullptr) return Error{Code::invalid, "this helper only looks at its machine"};
    if (Job* job = current(); job != nullptr) {
        if (job->kind == "uninstall") return *job;
        return Error{Code::conflict,
                     "this machine is being made ready now; say it again when that has ended"};
    }
    if (settings_ && check_ && settings_->is_member(check_->node.machine) && setup_->runs_cluster() &&
        !force) {
        return Error{
            Code::invalid,
            "this machine is part of the cluster that llmgw runs, and jobs may run on it: take it out of "
            "nodes in the settings first, or switch the cluster off (enabled), or drain it and add "
            "--force"};
    }
    if (settings_ && check_ && settings_->wants_setup_on(check_->node.machine) && !wants_containers() &&
        !force) {
        return Error{Code::invalid,
                     "this machine is part of the cluster, which has its users or its shared path from the "
                     "settings: jobs would lose them; take it out of the settings first, or drain this node "
                     "and add --force"};
    }
    if (wants_containers() && !force) {
        return Error{
            Code::invalid,
            "containers are on for this cluster and this machine is part of it: without the guard a "
            "container "
            "job that waits could start on the host; say \"llmgw-slurm containers off\" first, or drain this "
            "node and add --force"};
    }
    if (const Result<void> kept = remember_uninstalled(true); !kept) return kept.error();
    failures_ = 0;
    const Job job = start("uninstall");
    run_uninstall();
    return job;
}

void SetupJobs::plan(bool thorough, const std::function<void(Result<std::string>)>& answer) {
    if (setup_ == nullptr) return answer(Error{Code::invalid, "this helper only looks at its machine"});
    if (const Job* job = current(); job != nullptr) {
        return answer(Error{Code::conflict, "this machine is being worked on now (" + job->kind +
                                                "); \"llmgw-slurm status\" shows how far it is"});
    }
    if (!settings_) return answer(Error{Code::unavailable, "there are no settings from the leader yet"});
    work_.submit([this, thorough, answer, settings = *settings_](const std::stop_token& stop) {
        const Result<Plan> plan = setup_->plan(settings, thorough, stop);
        Result<std::string> text =
            plan ? Result<std::string>(json::dump(value_of(plan.value()))) : plan.error();
        mailbox_.post([answer, text = std::move(text)] { answer(text); });
    });
}

std::string SetupJobs::reason() const {
    if (jobs_.empty()) return uninstalled_ ? "taken back with \"llmgw-slurm uninstall\"" : "";
    const Job& job = jobs_.back();
    if (uninstalled_) {
        if (job.running()) return "being taken back: " + (job.step.empty() ? "beginning" : job.step);
        return job.state == "failed" ? job.message : "taken back with \"llmgw-slurm uninstall\"";
    }
    if (job.kind != "apply") return "";
    if (job.state == "failed") return job.message;
    if (!job.running() || job.step_number == 0) return "";
    return job.step + " (step " + std::to_string(job.step_number) + " of " + std::to_string(job.step_count) +
           ")";
}

}  // namespace llmgw::daemon
