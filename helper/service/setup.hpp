// Makes this machine ready and takes it back again: gathers the facts, lets core/plan.hpp say what is next,
// does that, and looks again, until nothing is left. Runs programs and waits for them: not for an event loop.
// One at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/plugstack_edit.hpp"
#include "core/task_runner.hpp"
#include "packages/manager.hpp"
#include "service/fetcher.hpp"
#include "service/leader.hpp"
#include "service/ledger_store.hpp"
#include "service/login_access.hpp"
#include "service/machine_facts.hpp"
#include "service/sshd_access.hpp"
#include "service/storage.hpp"
#include "service/users.hpp"

namespace llmgw::service {

struct SetupOptions {
    MachinePaths paths;
    std::string run_dir = "/run/llmgw-slurm";
    std::string state_dir = "/var/lib/llmgw-slurm";
    FetchOptions fetch;
    std::string guard_dir;   // where spank_llmgw.so and spank_llmgw_options.so are
    std::string proof_init;  // the proof's static program
    std::chrono::seconds build_deadline{600};
    Conduct conduct = Conduct::manage;
    // Another installation root and what it is, for tests and images; nothing: this machine's.
    packages::ManagerOptions packages;
    std::optional<Platform> platform;
    LoginRule logins = LoginRule::job;
    std::string pam_module;                                      // path of pam_llmgw_adopt.so
    std::string login_program;                                   // path of llmgw-slurm-login
    LeaderAddress leader;                                        // whom the munge key comes from
    std::string own_slurm_conf = "/etc/llmgw-slurm/slurm.conf";  // the site's own lines for it
};

// Told in the thread that works.
class SetupObserver {
  public:
    virtual ~SetupObserver() = default;
    virtual void on_step(int number, int count, const Step& step) = 0;
    virtual void on_bytes(std::uint64_t done,
                          std::uint64_t total) = 0;         // of a download; total 0: not known yet
    virtual void on_note(const std::string& sentence) = 0;  // "waiting for apt-get (PID 4711), which ..."
};

// How long each step took, and how much of it programs of others took: the rest is ours.
struct StepTime {
    std::string name;
    double seconds = 0;
    double in_tasks = 0;
};

// A runner that knows how long its tasks took.
class TimedRunner final : public TaskRunner {
  public:
    explicit TimedRunner(TaskRunner& runner) : runner_(runner) {}
    Result<TaskResult> run(const Task& task, const std::stop_token& stop) override;
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    TaskRunner& runner_;
    double seconds_ = 0;
};

class SetupPort {
  public:
    virtual ~SetupPort() = default;
    // Looks, and changes nothing; `thorough` also probes what a passed proof makes unnecessary.
    virtual Result<Plan> plan(const ResolvedSettings& settings, bool thorough,
                              const std::stop_token& stop) = 0;
    // Until the plan has nothing left. The machine is as before or further after an error, which names the
    // step.
    virtual Result<void> apply(const ResolvedSettings& settings, SetupObserver& observer,
                               const std::stop_token& stop) = 0;
    // Takes back what the ledger says, last things first. The answer says what was left because somebody
    // changed it since, or because users' files are in it.
    virtual Result<std::vector<std::string>> uninstall(SetupObserver& observer,
                                                       const std::stop_token& stop) = 0;
    // Whether there is anything to take back.
    [[nodiscard]] virtual bool did_anything() const = 0;
    // Why the shared path is no good right now; empty: it is there, or there is none. From any thread.
    virtual std::string shared_problem(const ResolvedSettings&) { return {}; }
    // Whether Slurm on this machine is ours, so that there may be something to stop.
    [[nodiscard]] virtual bool runs_cluster() const { return false; }
};

class Setup final : public SetupPort {
  public:
    // `runner` and `users` must outlive it; `users` may be null: then none are made.
    Setup(SetupOptions options, Releases releases, TaskRunner& runner, Users* users = nullptr);

    Result<Plan> plan(const ResolvedSettings& settings, bool thorough, const std::stop_token& stop) override;
    Result<void> apply(const ResolvedSettings& settings, SetupObserver& observer,
                       const std::stop_token& stop) override;
    Result<std::vector<std::string>> uninstall(SetupObserver& observer, const std::stop_token& stop) override;
    [[nodiscard]] bool did_anything() const override;
    std::string shared_problem(const ResolvedSettings& settings) override {
        return storage_.problem(settings);
    }
    [[nodiscard]] bool runs_cluster() const override;
    // Takes our lines out of plugstack.conf and of PAM's files: what must be gone before our libraries go.
    Result<void> withdraw();
    // Takes our lines out of PAM's files.
    Result<void> leave_logins() { return login_.leave({}); }

    // Of the last apply(), in the order of what was done; "look" is gathering the facts.
    [[nodiscard]] const std::vector<StepTime>& times() const { return times_; }

  private:
    Result<void> take_step(const Plan& plan, const Step& step, const SetupFacts& facts,
                           SetupObserver& observer, const std::stop_token& stop);
    Result<SetupFacts> gather(const ResolvedSettings& settings, bool thorough, const std::stop_token& stop);
    void gather_build(SetupFacts& facts) const;
    Result<void> gather_files(SetupFacts& facts, const ResolvedSettings& settings, bool thorough,
                              const std::stop_token& stop);
    void gather_plugstack(SetupFacts& facts) const;
    void gather_nvidia(SetupFacts& facts);
    void gather_users(SetupFacts& facts, const ResolvedSettings& settings);
    // setup_cluster.cpp, cluster_facts.cpp, contact_facts.cpp
    void gather_cluster(SetupFacts& facts, const ResolvedSettings& settings, const std::stop_token& stop);
    void gather_munge_key(ClusterFacts& cluster, const Ledger& ledger, const std::stop_token& stop);
    void gather_contact(ClusterFacts& cluster, const ResolvedSettings& settings) const;
    [[nodiscard]] std::string site_slurm(const ClusterFacts& cluster) const;
    [[nodiscard]] std::string told_path() const { return options_.state_dir + "/slurm-told"; }
    [[nodiscard]] std::string key_digest_path() const { return options_.state_dir + "/munge-key.sha256"; }
    Result<packages::Manager*> manager();
    [[nodiscard]] Result<Platform> platform() const;
    [[nodiscard]] Result<StackSite> stack_site() const;
    [[nodiscard]] StackLibraries libraries() const;

    Result<void> perform(const Action& action, const SetupFacts& facts, SetupObserver& observer,
                         const std::stop_token& stop);
    Result<void> remember_parents(const std::string& path);
    Result<void> install(const action::InstallPackages& what, const packages::Progress& note,
                         const std::stop_token& stop);
    Result<void> install_wanted(const packages::Wanted& wanted, const packages::Progress& note,
                                const std::stop_token& stop);
    Result<void> write_files(const std::vector<MachineFile>& files);
    Result<void> remove_files(const std::vector<std::string>& paths);
    Result<void> apply_tmpfiles(const std::string& path, const std::stop_token& stop);
    Result<void> build(const SetupFacts& facts, const std::stop_token& stop);
    Result<void> prove(const SetupFacts& facts, const std::stop_token& stop);
    Result<void> edit_plugstack(bool with_pyxis, const std::stop_token& stop);
    Result<void> tell_slurmctld(const std::stop_token& stop);
    Result<void> command(const std::vector<std::string>& argv, const std::stop_token& stop);
    Result<void> put_munge_key();
    Result<void> start_unit(const action::StartUnit& what, const std::stop_token& stop);
    Result<void> stop_unit(const std::string& unit, const std::stop_token& stop);
    Result<void> wait_for_slurmctld(const std::stop_token& stop);
    Result<void> tell_slurm(const action::TellSlurm& what, const std::stop_token& stop);
    Result<void> drain_nodes(const action::DrainNodes& what, const std::stop_token& stop);
    Result<void> stop_cluster(const Ledger& ledger, const std::stop_token& stop);
    Result<void> forget_cluster(const Ledger& ledger, std::vector<std::string>& left,
                                const std::stop_token& stop);
    Result<void> add_nvidia(const packages::Progress& note, const std::stop_token& stop);
    Result<void> install_nvidia(const packages::Progress& note, const std::stop_token& stop);
    Result<void> remove_nvidia(const packages::Progress& note, const std::stop_token& stop);
    Result<void> apply_users(const ResolvedSettings& settings, SetupObserver& observer,
                             const std::stop_token& stop);
    void take_back_users(std::vector<std::string>& left, Result<void>& done, const std::stop_token& stop);
    Result<void> take_back_packages(const Ledger& ledger, SetupObserver& observer,
                                    std::vector<std::string>& left, const std::stop_token& stop);

    const SetupOptions options_;
    const Releases releases_;
    TimedRunner runner_;
    const LedgerStore ledger_;
    std::unique_ptr<packages::Manager> manager_;
    Inspections inspections_;
    Users* const users_;
    Storage storage_;
    const SshdAccess sshd_;
    LoginAccess login_;
    std::vector<StepTime> times_;
    std::optional<Result<std::string>> munge_key_;  // as the leader gave it since the work began
    std::optional<std::int64_t> clock_ahead_;       // as of that answer
};

}  // namespace llmgw::service
