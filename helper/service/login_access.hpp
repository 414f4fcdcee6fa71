// Has sshd let users in to this node only into their jobs (core/login_lines.hpp), and takes that back. PAM's
// files are changed by pam-auth-update where the distribution has it, whose choices its upgrades keep;
// elsewhere by a marked block at the end of /etc/pam.d/sshd. Whatever is changed counts only once logins
// through a real sshd have shown that a user without a job is refused and root and an admin get in; else it
// is taken back at once, and by a timer of systemd's if this process is gone by then.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/login_lines.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/task_runner.hpp"
#include "service/ledger_store.hpp"

namespace llmgw::service {

struct LoginOptions {
    std::string state_dir = "/var/lib/llmgw-slurm";
    std::string run_dir = "/run/llmgw-slurm";
    std::string program;  // this helper, which the timer calls with --leave-logins
    LoginRule rule = LoginRule::job;
    std::string module;  // path of pam_llmgw_adopt.so
    std::string pam_dir = "/etc/pam.d";
    std::string profiles = "/usr/share/pam-configs";
    std::string pam_auth_update = "/usr/sbin/pam-auth-update";
    std::string sshd = "/usr/sbin/sshd";
    std::string ssh = "/usr/bin/ssh";
    std::string user_manager = user_manager_drop_in;
    std::string login_program;  // that enters the job's container
    std::string drop_in = login_drop_in;
};

class LoginAccess {
  public:
    LoginAccess(LoginOptions options, TaskRunner& runner);

    [[nodiscard]] LoginFacts look() const;
    // Adds the lines, proves them, and takes them back if they don't hold. Errors: conflict (proved wrong;
    // remembered for some minutes, so that it isn't tried all the time), and what kept it from being done or
    // proved.
    Result<void> guard(const std::stop_token& stop);
    // Takes back what guard() did.
    Result<void> leave(const std::stop_token& stop);
    [[nodiscard]] bool did_anything() const;

  private:
    [[nodiscard]] std::vector<PamLine> lines() const;
    [[nodiscard]] std::string fingerprint(const std::vector<PamLine>& lines) const;
    [[nodiscard]] bool has_profiles() const;
    [[nodiscard]] bool drop_in_right() const;
    Result<void> add_drop_in(const std::stop_token& stop);
    Result<void> drop_drop_in();
    Result<void> add_lines(const std::stop_token& stop);
    Result<void> drop_lines(const std::stop_token& stop);
    Result<void> command(const char* unit, std::vector<std::string> argv, const std::stop_token& stop) const;
    [[nodiscard]] std::string state_path() const { return options_.state_dir + "/login"; }

    const LoginOptions options_;
    TaskRunner& runner_;
    const LedgerStore ledger_;
};

}  // namespace llmgw::service
