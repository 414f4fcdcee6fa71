#include "adoption.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "core/login_verdict.hpp"
#include "posix/cgroup_files.hpp"
#include "posix/file.hpp"
#include "posix/step_sockets.hpp"
#include "posix/stepd_worker.hpp"

namespace llmgw::login {
namespace {

using Clock = std::chrono::steady_clock;

std::string job_name(const ExternStep& step) {
    return "job " + std::to_string(step.job);
}

Adoption adoption_of(const ExternStep& step, Taken taken) {
    return {step, static_cast<pid_t>(taken.login.slurmstepd), std::move(taken.login.place),
            std::move(taken.login.held), std::move(taken.namespaces)};
}

// One look at what is here now, but not at `foreign`, to which it adds the steps of others. Nothing: no job
// of the user's took the login; `findings` say why.
Result<std::optional<Adoption>> look(const AdoptOptions& options, const std::vector<std::string>& spool,
                                     const Login& login, std::vector<ExternStep>& foreign,
                                     LoginFindings& findings) {
    findings = LoginFindings{};
    findings.wanted = login.wanted;
    StepsHere here = find_extern_steps(spool);
    findings.without_extern = here.without_extern;
    std::erase_if(here.extern_steps, [&](const ExternStep& step) {
        return (login.wanted && step.job != *login.wanted) ||
               std::find(foreign.begin(), foreign.end(), step) != foreign.end();
    });
    if (here.extern_steps.empty()) return std::optional<Adoption>();
    const TakeOrder order{options.library, std::move(here.extern_steps), login.user, login.process};
    Result<Taken> taken = take_login(order);
    if (!taken) return taken.error();
    findings.suspended = taken.value().login.suspended;
    findings.failures = taken.value().login.failures;
    if (const std::optional<std::size_t> step = taken.value().login.step) {
        return std::optional<Adoption>(adoption_of(order.steps[*step], std::move(taken).value()));
    }
    for (const std::size_t each : taken.value().login.foreign) {
        if (each < order.steps.size()) foreign.push_back(order.steps[each]);
    }
    return std::optional<Adoption>();
}

bool is_worth_waiting(const LoginFindings& findings) {
    return findings.failures.empty() && findings.suspended.empty();
}

}  // namespace

Host this_host(const AdoptOptions& options) {
    SlurmPlaces places;
    places.spool = options.spool;
    if (!options.conf.empty()) places.conf = options.conf;
    SlurmHere here = read_slurm_here(places, host_name());
    return {host_kind(options.role, here.host) == HostKind::node, std::move(here.spool)};
}

Result<Adoption> adopt(const AdoptOptions& options, const Host& host, const Login& login) {
    const Clock::time_point until = Clock::now() + options.wait;
    std::vector<ExternStep> foreign;
    LoginFindings findings;
    for (;;) {
        Result<std::optional<Adoption>> taken = look(options, host.spool, login, foreign, findings);
        if (!taken) return taken.error();
        if (taken.value()) return *std::move(taken).value();
        // slurmd makes the step after the prolog, which is after the job was granted.
        if (!is_worth_waiting(findings) || Clock::now() >= until) break;
        std::this_thread::sleep_for(limits::step_look_every);
    }
    return Error{Code::denied, why_refused(findings)};
}

std::string escaped(const Adoption& adoption, pid_t process) {
    const Result<Cgroups> now = cgroups_of(process);
    if (!now) return now.error().message;
    struct stat socket {};
    if (::lstat(adoption.step.socket().c_str(), &socket) != 0)
        return job_name(adoption.step) + ", which ended";
    return escaped_from(now.value(), adoption.place, adoption.held);
}

Result<void> adopt_again(const AdoptOptions& options, const Login& login, Adoption& adoption) {
    Result<Taken> taken = take_login({options.library, {adoption.step}, login.user, login.process});
    if (!taken) return taken.error();
    const LoginTaken& outcome = taken.value().login;
    if (!outcome.failures.empty()) return Error{Code::unavailable, outcome.failures.front()};
    if (!outcome.suspended.empty()) return Error{Code::denied, job_name(adoption.step) + " was suspended"};
    if (!outcome.step) return Error{Code::missing, job_name(adoption.step) + " ended"};
    const std::string missing = escaped(adoption, login.process);
    if (!missing.empty()) return Error{Code::internal, "it can't be put back into the job's " + missing};
    adoption.namespaces = std::move(taken).value().namespaces;
    return {};
}

Result<void> join_namespaces(const Adoption& adoption) {
    // A user namespace first: it gives the right to the others.
    for (const bool users : {true, false}) {
        for (const JobNamespace& each : adoption.namespaces) {
            if ((each.type == CLONE_NEWUSER) != users) continue;
            if (::setns(each.file.get(), each.type) != 0) {
                return Error{Code::internal, "cannot join a namespace of " + job_name(adoption.step) + ": " +
                                                 reason_of(errno)};
            }
        }
    }
    return {};
}

}  // namespace llmgw::login
