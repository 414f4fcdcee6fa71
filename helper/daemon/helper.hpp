// The helper's state and what changes it. Everything here runs in the event loop's thread; workers do what
// takes time and hand their results in through the mailbox.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/event_loop.hpp"
#include "bus/manager.hpp"
#include "core/machine_check.hpp"
#include "core/readiness.hpp"
#include "daemon/errands.hpp"
#include "daemon/gate_keeper.hpp"
#include "daemon/lending_keeper.hpp"
#include "daemon/mailbox.hpp"
#include "daemon/options.hpp"
#include "daemon/setup_jobs.hpp"
#include "daemon/users_keeper.hpp"
#include "daemon/watchers.hpp"
#include "service/machine_facts.hpp"

namespace llmgw::daemon {

// What others hear of.
struct Listeners {
    std::function<void()> changed = [] {};         // state or reason is another
    std::function<void()> status_changed = [] {};  // something else that describe() tells is another
    std::function<void(const Job&)> job_started = [](const Job&) {};
    std::function<void(const Job&)> job_changed = [](const Job&) {};
    std::function<void(const Job&)> job_ended = [](const Job&) {};
};

class Helper final : public bus::ManagerPort {
  public:
    // `setup` null: it only looks; `users` null: it makes none; `lending` null: it lends nothing. They must
    // outlive the helper.
    Helper(Options options, WantedVersions wanted, service::SetupPort* setup, bus::EventLoop& loop,
           Mailbox& mailbox, service::Users* users = nullptr, service::Lending* lending = nullptr);
    ~Helper() override;

    // Called once.
    void start(Listeners listeners);
    // Looks at the machine again soon; many calls are one look.
    void look_again();

    void describe(bus::Answer<std::string> answer) override;
    void set_containers(bool on, bus::Answer<std::string> answer) override;
    void set_gate(const std::string& mode, bus::Answer<std::string> answer) override;
    void recheck(bus::Answer<std::string> answer) override;
    void set_lent(std::vector<std::string> add, std::vector<std::string> remove,
                  std::optional<Reclaim> reclaim, bus::Answer<std::string> answer) override;
    void set_fence(const std::string& node, bool on, bus::Answer<std::string> answer) override;
    void plan(bool thorough, bus::Answer<std::string> answer) override;
    Result<std::uint32_t> apply() override;
    Result<std::uint32_t> uninstall(bool force) override;
    [[nodiscard]] const Job* job(std::uint32_t id) const override { return setup_.find(id); }
    [[nodiscard]] std::vector<std::uint32_t> jobs() const override;
    [[nodiscard]] std::string machine() const override { return options_.paths.machine; }
    [[nodiscard]] std::string state() const override;
    [[nodiscard]] std::string reason() const override;

  private:
    void check(bus::Answer<std::string> answer);
    void on_checked(const service::Gathered& gathered, const std::string& shared_problem,
                    const bus::Answer<std::string>& answer);
    void take_notes(const MachineFacts& facts);
    void on_settings(const Result<service::LeaderSettings>& answer);
    void on_machines(const Result<KnownMachines>& answer);
    void on_reported(const Result<void>& sent);
    void take_settings(const Settings& settings);
    void leader_said(const Error* error);
    void settings_said(const std::string& problem);
    void publish();
    void publish_node();
    [[nodiscard]] MachineCheck as_shown() const;
    SetupJobs::Events job_events();
    void update_gate();
    void update_users();
    void update_setup();
    void update_lending();
    void publish_users();
    Result<void> publish_gate();
    void load_kept_settings();
    [[nodiscard]] bool is_controller() const;
    [[nodiscard]] ResolvedSettings resolved(const KnownMachines& machines) const;
    [[nodiscard]] std::string description(const Result<KnownMachines>& machines) const;

    const Options options_;
    const WantedVersions wanted_;
    bus::EventLoop& loop_;
    Mailbox& mailbox_;
    Listeners listeners_;

    service::SetupPort* const port_;
    std::string shared_problem_;         // empty: the shared path is there, or none is wanted
    std::optional<MachineCheck> check_;  // as it was found
    std::optional<MachineCheck> shown_;  // with what is being done about it
    std::optional<Settings> settings_;
    std::string settings_problem_;
    std::optional<KnownMachines> machines_;
    std::string leader_error_;  // empty: it answered last
    GateKeeper gate_;
    bool was_forced_ = false;
    std::vector<bus::Answer<std::string>> describing_;

    // Last: their threads use what is above.
    std::vector<std::string> notes_;  // of the last look
    service::Inspections inspections_;
    Errands checks_;
    Errands errands_;
    SetupJobs setup_;
    UsersKeeper users_;
    LendingKeeper lending_;
    std::optional<Reporter> reporter_;
    std::optional<SettingsWatcher> settings_watcher_;
    std::optional<MachinesWatcher> machines_watcher_;
};

}  // namespace llmgw::daemon
