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

SlurmHere slurm_here(const AdoptOptions& options) {
    SlurmPlaces places;
    places.spool = options.spool;
    if (!options.conf.empty()) places.conf = options.conf;
    return read_slurm_here(places, host_name());
}

// Where the step's processes are; suspended ones are an error of their own kind (conflict).
Result<StepPlace> place_of(const OwnedStep& owned) {
    const Result<Cgroups> daemon = cgroups_of(owned.slurmstepd);
    if (!daemon) return daemon.error();
    std::optional<StepPlace> place = extern_step_place(daemon.value());
    if (!place) {
        return Error{
            Code::invalid,
            "Slurm doesn't know the processes of " + job_name(owned.step) +
                " by cgroups; an administrator has to set ProctrackType=proctrack/cgroup in slurm.conf"};
    }
    if (is_frozen(*place)) return Error{Code::conflict, "suspended"};
    return *std::move(place);
}

Result<Adoption> take_into(StepdWorker& worker, const OwnedStep& owned, pid_t process) {
    Result<StepPlace> place = place_of(owned);
    if (!place) return place.error();
    if (Result<void> adopted = worker.adopt(process); !adopted) {
        return adopted.error().within(job_name(owned.step) + " could not take the login");
    }
    Adoption adoption;
    adoption.step = owned.step;
    adoption.slurmstepd = owned.slurmstepd;
    adoption.place = std::move(place).value();
    const Result<Cgroups> now = cgroups_of(process);
    if (!now) return now.error();
    adoption.held = held_in(now.value(), adoption.place);
    if (!escaped_from(now.value(), adoption.place, {adoption.place.tracker}).empty()) {
        return Error{Code::internal, job_name(owned.step) + " took the login, but not into its cgroup"};
    }
    Result<std::vector<JobNamespace>> namespaces = worker.namespaces();
    if (!namespaces) {
        return namespaces.error().within(job_name(owned.step) +
                                         " took the login, but not into its namespaces");
    }
    adoption.namespaces = std::move(namespaces).value();
    return adoption;
}

// One look at what is here now, but not at `known`, to which it adds. Nothing: no job of the user's took the
// login; `findings` say why.
Result<std::optional<Adoption>> look(const AdoptOptions& options, const std::vector<std::string>& spool,
                                     const Login& login, std::vector<ExternStep>& known,
                                     LoginFindings& findings) {
    findings = LoginFindings{};
    findings.wanted = login.wanted;
    StepsHere here = find_extern_steps(spool);
    findings.without_extern = here.without_extern;
    std::erase_if(here.extern_steps, [&](const ExternStep& step) {
        return (login.wanted && step.job != *login.wanted) ||
               std::find(known.begin(), known.end(), step) != known.end();
    });
    if (here.extern_steps.empty()) return std::optional<Adoption>();
    known.insert(known.end(), here.extern_steps.begin(), here.extern_steps.end());
    StepdWorker worker(options.library, std::move(here.extern_steps), login.user);
    for (std::size_t jobs = 1;; ++jobs) {
        Result<std::optional<OwnedStep>> owned = worker.next();
        if (!owned) return owned.error();
        if (!owned.value()) break;
        Result<Adoption> taken = take_into(worker, *owned.value(), login.process);
        if (taken) {
            taken.value().jobs = jobs;
            return std::optional<Adoption>(std::move(taken).value());
        }
        if (taken.error().code == Code::conflict) {
            findings.suspended.push_back(owned.value()->step.job);
        } else {
            findings.failures.push_back(taken.error().message);
        }
    }
    for (const std::uint32_t job : worker.silent()) {
        findings.failures.push_back("the slurmstepd of job " + std::to_string(job) + " doesn't answer");
    }
    return std::optional<Adoption>();
}

bool is_worth_waiting(const LoginFindings& findings) {
    return findings.failures.empty() && findings.suspended.empty();
}

}  // namespace

bool is_node(const AdoptOptions& options) {
    if (options.role != LoginRole::automatic) return options.role == LoginRole::node;
    return host_kind(options.role, slurm_here(options).host) == HostKind::node;
}

Result<Adoption> adopt(const AdoptOptions& options, const Login& login) {
    const SlurmHere here = slurm_here(options);
    const Clock::time_point until = Clock::now() + options.wait;
    std::vector<ExternStep> known;
    LoginFindings findings;
    for (bool last = false;;) {
        Result<std::optional<Adoption>> taken = look(options, here.spool, login, known, findings);
        if (!taken) return taken.error();
        if (taken.value()) return *std::move(taken).value();
        // slurmd makes the step after the prolog, which is after the job was granted.
        if (!is_worth_waiting(findings) || last) break;
        std::this_thread::sleep_for(limits::step_look_every);
        last = Clock::now() >= until;
        // Once more all of them: one may have been too young to answer.
        if (last) known.clear();
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
    StepdWorker worker(options.library, {adoption.step}, login.user);
    Result<std::optional<OwnedStep>> owned = worker.next();
    if (!owned) return owned.error();
    if (!owned.value()) return Error{Code::missing, job_name(adoption.step) + " ended"};
    Result<Adoption> taken = take_into(worker, *owned.value(), login.process);
    if (!taken) {
        if (taken.error().code != Code::conflict) return taken.error();
        return Error{Code::denied, job_name(adoption.step) + " was suspended"};
    }
    const std::string missing = escaped(adoption, login.process);
    if (!missing.empty()) return Error{Code::internal, "it can't be put back into the job's " + missing};
    taken.value().jobs = adoption.jobs;
    taken.value().held = adoption.held;
    adoption = std::move(taken).value();
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
