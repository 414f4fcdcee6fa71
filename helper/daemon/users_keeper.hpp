// Keeps this machine's users as llmgw's accounts say, and on the controller RUN/users as the machines'
// reports say. In the event loop's thread; the work is done in one of its own, apart from the plan's longer
// steps.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/report.hpp"
#include "core/settings.hpp"
#include "core/users_state.hpp"
#include "core/value.hpp"
#include "daemon/errands.hpp"
#include "daemon/mailbox.hpp"
#include "daemon/watchers.hpp"
#include "service/users.hpp"

namespace llmgw::daemon {

class UsersKeeper {
  public:
    // `users` may be null: then none are made. `changed` is called when present() or describe() say something
    // else.
    UsersKeeper(service::Users* users, service::LeaderAddress leader, std::string machine,
                const std::string& run_dir, Mailbox& mailbox, std::function<void()> changed);

    // What holds now; `withdrawn`: an admin took this machine back. Starts and ends the watch for accounts.
    void settings_are(const ResolvedSettings& settings, bool withdrawn);
    // Looks at the machine's users again: somebody else may have changed them, or what failed may work now.
    void look();
    // RUN/users, on the controller and where the users are llmgw's; else it goes.
    void publish(const ResolvedSettings& settings, const std::optional<KnownMachines>& machines,
                 GateOverride forced);

    // For the report (MachineReport::users).
    [[nodiscard]] std::string present() const;
    [[nodiscard]] Value describe() const;

  private:
    void on_accounts(const Result<service::LeaderAccounts>& answer);
    void on_applied(const Result<service::UsersOutcome>& outcome);
    void say_problem(const std::string& problem);

    service::Users* const users_;
    const service::LeaderAddress leader_;
    const std::string machine_;
    const std::string path_;
    Mailbox& mailbox_;
    const std::function<void()> changed_;

    ResolvedSettings settings_;
    bool wanted_ = false;
    bool working_ = false;
    bool again_ = false;
    std::optional<service::UsersOutcome> outcome_;
    std::string accounts_problem_;  // why newer accounts are not in force
    std::string apply_problem_;     // why nothing could be done

    // Last: their threads use what is above.
    Errands work_;
    std::optional<AccountsWatcher> watcher_;
};

}  // namespace llmgw::daemon
