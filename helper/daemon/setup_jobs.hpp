// When the machine is made ready or taken back, and the job that does it: at most one at a time, in a thread
// of its own. Everything else here runs in the event loop's thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/job.hpp"
#include "core/machine_check.hpp"
#include "core/settings.hpp"
#include "daemon/errands.hpp"
#include "daemon/mailbox.hpp"
#include "service/setup.hpp"

namespace llmgw::daemon {

class SetupJobs {
  public:
    struct Events {
        std::function<void(const Job&)> started;
        std::function<void(const Job&)> changed;  // step, bytes or note; not more often than people can read
        std::function<void(const Job&)> ended;
    };

    // `setup` may be null: then nothing is ever done. `state_dir`/uninstalled says that an admin took
    // everything back.
    SetupJobs(service::SetupPort* setup, std::string state_dir, Mailbox& mailbox, Events events);

    // Call each when it is so: they start a job when there is something to do that was not just tried.
    void settings_are(const ResolvedSettings& settings);
    void machine_is(const MachineCheck& check);
    // Something that the last job failed for may be there now.
    void may_work_now();

    // The job under way if it is of that kind. Errors: conflict (another kind is under way), invalid (nothing
    // to do with these settings, or containers are still on).
    Result<Job> apply();
    Result<Job> uninstall(bool force);
    // JSON for people and programs (docs/dbus.md). Error (conflict): a job is under way.
    void plan(bool thorough, const std::function<void(Result<std::string>)>& answer);

    [[nodiscard]] const std::deque<Job>& jobs() const { return jobs_; }  // the last ones, oldest first
    [[nodiscard]] const Job* find(std::uint32_t id) const;
    // What to say of a machine that isn't ready: what is being done, or why it could not be. Empty: nothing.
    [[nodiscard]] std::string reason() const;
    // Containers must not start although everything is there: it is being taken back.
    [[nodiscard]] bool withdrawn() const { return uninstalled_; }

  private:
    class Observer;

    [[nodiscard]] Job* current();
    [[nodiscard]] bool wanted() const;
    [[nodiscard]] bool wants_containers() const;
    void consider();
    void retry_later();
    Job& start(const std::string& kind);
    void run_apply();
    void run_uninstall();
    void ended(const Result<std::string>& outcome);
    Result<void> remember_uninstalled(bool uninstalled);

    service::SetupPort* const setup_;
    const std::string state_dir_;
    Mailbox& mailbox_;
    const Events events_;

    std::optional<ResolvedSettings> settings_;
    std::optional<ResolvedSettings> applied_;     // with which the last job ended well
    std::optional<ResolvedSettings> tried_with_;  // of the last job
    std::optional<MachineCheck> check_;
    std::optional<MachineCheck> tried_;  // as the machine was when the last job ended
    bool uninstalled_ = false;
    bool look_due_ = false;  // a job ended, and the machine was not looked at since
    int failures_ = 0;
    std::deque<Job> jobs_;
    std::uint32_t last_id_ = 0;

    // Last: their threads use what is above.
    Errands work_;
    Errands clock_;
};

}  // namespace llmgw::daemon
