#include "core/plan_login.hpp"

#include <utility>

#include "core/plan_steps.hpp"

namespace llmgw {
namespace {

bool is_guarded(const ResolvedSettings& settings, const SetupFacts& facts) {
    const std::string& machine = facts.machine.machine;
    return facts.cluster && facts.cluster->ours && facts.cluster->site.empty() &&
           settings.runs_slurmd(machine) && settings.controller != machine &&
           facts.login.rule != LoginRule::site;
}

Step leave_step(const LoginFacts&) {
    return is_missing(step("logins-left", "let users log in as before"),
                      "sshd's lines of ours are not wanted here any more", {action::LeaveLogins{}});
}

Step guard_step(const SetupFacts& facts) {
    const LoginFacts& login = facts.login;
    Step made = step("logins", "let users log in only into their jobs", "takes our lines out of PAM's files");
    if (!login.sshd) return is_done(std::move(made), "sshd is not installed");
    if (!login.module)
        return is_missing(std::move(made), "pam_llmgw_adopt.so is not installed; reinstall llmgw-slurm", {});
    // Somebody else's rule stays.
    if (!login.other.empty() || (login.any && !login.ours)) {
        made.finding =
            (login.other.empty() ? "pam_llmgw_adopt.so" : login.other) +
            " is in sshd's PAM lines already, which stay as they are; take it out and apply again to have "
            "ours looked after, or say logins = site in helper.conf";
        made.advisory = true;
        return made;
    }
    if (login.added && login.proven)
        return is_done(std::move(made), "shown: a user without a job is refused, root and admins get in");
    if (!login.failure.empty()) {
        made.finding = login.failure + "; logins are as before, and it is tried again in ten minutes";
        made.advisory = true;
        return made;
    }
    if (!login.client) {
        if (!facts.platform) return is_missing(std::move(made), facts.platform.error().message, {});
        const bool deb = facts.platform.value().family == Family::deb;
        return is_missing(std::move(made), "ssh, with which the lines are tried, is not installed",
                          {action::InstallPackages{{}, {deb ? "openssh-client" : "openssh-clients"}}});
    }
    return is_missing(std::move(made),
                      login.added ? "sshd's PAM lines have changed since they were tried"
                                  : "users get in to this node without a job",
                      {action::GuardLogins{}});
}

}  // namespace

void add_login_steps(Plan& plan, const ResolvedSettings& settings, const SetupFacts& facts) {
    // Switched off, the nodes are llmgw's, and nothing that keeps users out of them goes.
    if (!settings.enabled) return;
    if (is_guarded(settings, facts)) {
        plan.push_back(guard_step(facts));
    } else if (facts.login.ours) {
        plan.push_back(leave_step(facts.login));
    }
}

}  // namespace llmgw
