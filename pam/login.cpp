#include "login.hpp"

#include <pwd.h>
#include <syslog.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "adoption.hpp"
#include "core/adopt_options.hpp"
#include "core/container_login.hpp"
#include "core/job_containers.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/cgroup_files.hpp"
#include "posix/container_look.hpp"
#include "posix/step_sockets.hpp"

namespace llmgw::login {
namespace {

constexpr const char* kept_as = "llmgw_adopt";

// What is kept from the account phase for the later ones, in the same process.
struct Kept {
    Adoption adoption;
    bool session = false;
};

void forget(pam_handle_t*, void* data, int) {
    delete static_cast<Kept*>(data);
}

Kept* kept(const pam_handle_t* pam) {
    const void* data = nullptr;
    if (pam_get_data(pam, kept_as, &data) != PAM_SUCCESS) return nullptr;
    // Ours since keep(); PAM hands it out as const.
    return static_cast<Kept*>(const_cast<void*>(data));
}

Kept* keep(pam_handle_t* pam, Adoption adoption) {
    auto state = std::make_unique<Kept>();
    state->adoption = std::move(adoption);
    if (pam_set_data(pam, kept_as, state.get(), forget) != PAM_SUCCESS) return nullptr;
    return state.release();
}

void tell(pam_handle_t* pam, const Words& words, int style, const std::string& text) {
    if (!words.silent) pam_prompt(pam, style, nullptr, "%s", without_control_characters(text).c_str());
}

int refuse(pam_handle_t* pam, const Words& words, int code, const std::string& why) {
    const std::string text = without_control_characters(why);
    pam_syslog(pam, LOG_NOTICE, "login refused: %s", text.c_str());
    tell(pam, words, PAM_ERROR_MSG, "llmgw: login refused on " + host_name() + ": " + text);
    return code;
}

AdoptOptions options_of(const Words& words) {
    return parse_adopt_options({words.words, words.words + words.count});
}

// The job that is named in PAM's own environment; no variable of the process or file of the user's is read.
Result<Login> login_of(pam_handle_t* pam) {
    const char* name = nullptr;
    const passwd* user = nullptr;
    if (pam_get_user(pam, &name, nullptr) == PAM_SUCCESS && name != nullptr)
        user = pam_modutil_getpwnam(pam, name);
    if (user == nullptr) return Error{Code::missing, "the user can't be looked up"};
    Login login{user->pw_uid, ::getpid(), std::nullopt};
    if (const char* job = pam_getenv(pam, "SLURM_JOB_ID"); job != nullptr && *job != '\0') {
        login.wanted = parse_job_number(job);
        if (!login.wanted)
            return Error{Code::invalid, "SLURM_JOB_ID is " + shown(job) + ", which is no job's number"};
    }
    return login;
}

// Options and user; what is wrong with either is for the user, too.
struct Case {
    AdoptOptions options;
    Login login;
};
Result<Case> case_of(pam_handle_t* pam, const Words& words) {
    Case found{options_of(words), {}};
    if (!found.options.problems.empty()) return Error{Code::invalid, found.options.problems.front()};
    Result<Login> login = login_of(pam);
    if (!login) return login.error();
    found.login = login.value();
    return found;
}

void put_environment(pam_handle_t* pam, const Adoption& adoption, uid_t user) {
    const std::string job = std::to_string(adoption.step.job);
    std::vector<std::string> variables = variables_of_job(adoption.place, adoption.step.job, user);
    variables.push_back("SLURM_JOB_ID=" + job);
    variables.push_back("SLURM_JOBID=" + job);
    variables.push_back("SLURMD_NODENAME=" + adoption.step.node);
    for (const std::string& variable : variables) pam_putenv(pam, variable.c_str());
}

std::string words_for(const Adoption& adoption, const char* place) {
    return std::string("this login is in ") + place + std::to_string(adoption.step.job) + " on " +
           adoption.step.node + " and ends with it";
}

// Where in the job the login is to be, in words. Into a container it is llmgw-slurm-login that goes, as the
// user. Whatever the look for containers comes to, the login is let in.
std::string choose_place(pam_handle_t* pam, const Case& found, const Adoption& adoption) {
    const std::string in_job = words_for(adoption, "your job ");
    if (!found.options.join_container) return in_job;
    const std::uint32_t job = adoption.step.job;
    const Result<JobContainers> containers = containers_of_job(adoption.place, found.login.user);
    if (!containers) {
        pam_syslog(pam, LOG_WARNING, "cannot tell the containers of job %u: %s", job,
                   containers.error().message.c_str());
        return in_job + "; it is on the host, since it can't be told which containers job " +
               std::to_string(job) + " runs here (syslog has the reason)";
    }
    if (!containers.value().only) return in_job + "; " + why_on_host(containers.value(), job);
    const std::string way =
        std::string(container_variable) + "=" + format_container(*containers.value().only);
    pam_putenv(pam, way.c_str());
    return words_for(adoption, "the container of your job ");
}

void welcome(pam_handle_t* pam, const Words& words, const Case& found, const Adoption& adoption,
             const std::string& text) {
    pam_syslog(pam, LOG_INFO, "process %d is in job %u of node %s", static_cast<int>(::getpid()),
               adoption.step.job, adoption.step.node.c_str());
    tell(pam, words, PAM_TEXT_INFO, "llmgw: " + text);
    if (found.options.join_container) {
        pam_putenv(pam, (std::string(words_variable) + "=" + text).c_str());
    }
}

// In the job, wherever other modules moved the process meanwhile.
Result<void> held_or_put_back(pam_handle_t* pam, const Case& found, Adoption& adoption) {
    const std::string missing = escaped(adoption, found.login.process);
    if (missing.empty()) return {};
    pam_syslog(pam, LOG_NOTICE, "another module took the login out of its job (%s); putting it back",
               missing.c_str());
    if (Result<void> again = adopt_again(found.options, found.login, adoption); !again) return again;
    const std::string still = escaped(adoption, found.login.process);
    if (still.empty()) return {};
    return Error{Code::internal, "it can't be put back into the job's " + still};
}

}  // namespace

int account(pam_handle_t* pam, const Words& words) {
    const AdoptOptions options = options_of(words);
    const Host host = this_host(options);
    if (options.problems.empty() && !host.node) return PAM_IGNORE;
    const Result<Case> found = case_of(pam, words);
    if (!found) return refuse(pam, words, PAM_PERM_DENIED, found.error().message);
    Result<Adoption> adoption = adopt(options, host, found.value().login);
    if (!adoption) return refuse(pam, words, PAM_PERM_DENIED, adoption.error().message);
    if (keep(pam, std::move(adoption).value()) == nullptr) {
        return refuse(pam, words, PAM_PERM_DENIED, "PAM could not keep the login's job");
    }
    return PAM_SUCCESS;
}

int open_session(pam_handle_t* pam, const Words& words) {
    const AdoptOptions options = options_of(words);
    Kept* state = kept(pam);
    const Host host = state == nullptr ? this_host(options) : Host{true, {}};
    if (options.problems.empty() && !host.node) return PAM_IGNORE;
    const Result<Case> found = case_of(pam, words);
    if (!found) return refuse(pam, words, PAM_SESSION_ERR, found.error().message);
    if (state == nullptr) {
        // With passwords sshd asks the account phase in another process than this one (auth-pam.c).
        Result<Adoption> adoption = adopt(options, host, found.value().login);
        if (!adoption) return refuse(pam, words, PAM_SESSION_ERR, adoption.error().message);
        state = keep(pam, std::move(adoption).value());
        if (state == nullptr) {
            return refuse(pam, words, PAM_SESSION_ERR, "PAM could not keep the login's job");
        }
    }
    if (Result<void> held = held_or_put_back(pam, found.value(), state->adoption); !held) {
        return refuse(pam, words, PAM_SESSION_ERR, held.error().message);
    }
    put_environment(pam, state->adoption, found.value().login.user);
    const std::string place = choose_place(pam, found.value(), state->adoption);
    if (Result<void> joined = join_namespaces(state->adoption); !joined) {
        return refuse(pam, words, PAM_SESSION_ERR, joined.error().message);
    }
    state->session = true;
    welcome(pam, words, found.value(), state->adoption, place);
    return PAM_SUCCESS;
}

int set_credentials(pam_handle_t* pam, const Words& words) {
    Kept* state = kept(pam);
    if (state == nullptr || !state->session) return PAM_IGNORE;
    const Result<Case> found = case_of(pam, words);
    const Result<void> held = found ? held_or_put_back(pam, found.value(), state->adoption) : found.error();
    if (held) return PAM_IGNORE;
    // sshd goes on whatever is returned here (auth-pam.c, do_pam_setcred).
    refuse(pam, words, PAM_CRED_ERR, held.error().message);
    ::_exit(1);
}

}  // namespace llmgw::login
