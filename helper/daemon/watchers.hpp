// The threads that talk to the leader: one waits for settings, one for accounts, one on the controller for
// reports, one sends ours.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "daemon/mailbox.hpp"
#include "service/leader.hpp"

namespace llmgw::daemon {

// Asks again and again, with growing pauses while the leader doesn't answer, and posts each answer and each
// error.
class SettingsWatcher {
  public:
    using Callback = std::function<void(Result<service::LeaderSettings>)>;
    SettingsWatcher(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback);

  private:
    std::jthread thread_;
};

class MachinesWatcher {
  public:
    using Callback = std::function<void(Result<KnownMachines>)>;
    MachinesWatcher(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback);

  private:
    std::jthread thread_;
};

class AccountsWatcher {
  public:
    using Callback = std::function<void(Result<service::LeaderAccounts>)>;
    AccountsWatcher(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback);

  private:
    std::jthread thread_;
};

// Sends the newest report at once, and every limits::report_every as long as there is no newer one.
class Reporter {
  public:
    using Callback = std::function<void(Result<void>)>;
    Reporter(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback);
    ~Reporter();
    void send(MachineReport report);

  private:
    void work(const std::stop_token& stop, const service::LeaderAddress& leader, Mailbox& mailbox,
              const Callback& callback);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<MachineReport> report_;
    bool fresh_ = false;
    std::jthread thread_;
};

}  // namespace llmgw::daemon
