// Lending in a thread of its own: it begins a round when the settings, the leader's lease, a job's end or the
// fence say so, and hands what came of it to the event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/report.hpp"
#include "core/value.hpp"
#include "daemon/mailbox.hpp"
#include "posix/events.hpp"
#include "service/lending.hpp"

namespace llmgw::daemon {

// Waits by long polls until the leader's word on this node's lease is another, and says so.
class LeaseWatcher {
  public:
    LeaseWatcher(const service::LeaderAddress& leader, std::string node, std::function<void()> changed);

  private:
    std::jthread thread_;
};

class LendingKeeper {
  public:
    // `lending` null: this helper lends nothing. It must outlive the keeper.
    LendingKeeper(service::Lending* lending, service::LeaderAddress leader, std::string machine,
                  Mailbox& mailbox, std::function<void()> changed);
    ~LendingKeeper();

    // In the event loop's thread. `member`: this machine runs slurmd, as the settings have it.
    void settings_are(bool member, WantedOwner wanted);
    // This machine is being taken back.
    void withdraw();
    void unfit_is(const std::string& reason);
    void set_fence(bool on, std::function<void(Result<void>)> answer);

    [[nodiscard]] std::optional<LendingReport> report() const;
    // "" while all is well.
    [[nodiscard]] const std::string& problem() const { return problem_; }

  private:
    void work(const std::stop_token& stop);
    void round(const std::stop_token& stop);
    void watch();
    bool watch_steps();
    [[nodiscard]] std::chrono::milliseconds next_round() const;
    void on_outcome(const Result<service::LendingOutcome>& outcome);

    service::Lending* const lending_;
    const service::LeaderAddress leader_;
    const std::string machine_;
    Mailbox& mailbox_;
    const std::function<void()> changed_;

    // Of the event loop's thread.
    std::optional<service::LendingOutcome> outcome_;
    std::string problem_;
    bool withdrawn_ = false;

    // Of the keeper's own thread, which reads its letters.
    std::unique_ptr<Mailbox> inbox_;
    bool member_ = false;
    bool known_ = false;
    service::LendingWish wish_;
    std::optional<Result<service::LendingOutcome>> last_;
    std::chrono::milliseconds pause_{0};
    std::chrono::steady_clock::time_point asked_{};  // when a refusal was seen first
    std::optional<DirectoryWatch> fence_;
    std::optional<DirectoryWatch> spool_;
    std::optional<LeaseWatcher> watcher_;
    std::jthread thread_;  // last: it uses all the others
};

}  // namespace llmgw::daemon
