#include "gate.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "decision.hpp"
#include "gate_file.hpp"

namespace llmgw::gate {
namespace {

// Read and changed by whoever loads the plugin, and only read while jobs are checked.
constinit std::atomic<GateFile*> file{nullptr};
constinit std::atomic<UsersFile*> users{nullptr};

std::string run_directory() {
    const char* directory = ::secure_getenv("LLMGW_SLURM_RUN_DIR");
    return directory == nullptr || *directory != '/' ? "/run/llmgw-slurm" : directory;
}

// Whether the job's user has to wait. Nobody below llmgw's first number costs a stat, and a file that is not
// there or not fit to be trusted keeps nobody out: plain jobs fail open.
std::optional<std::string> users_refuse(const job_desc_msg_t& job) {
    if (job.user_id < first_account_uid || job.user_id > last_account_uid) return std::nullopt;
    UsersFile* known = users.load();
    if (known == nullptr) return std::nullopt;
    const std::shared_ptr<const Result<UsersState>> state = known->state();
    return *state ? refusal_of(state->value(), job.user_id) : std::nullopt;
}

std::shared_ptr<const Result<GateState>> current_state() {
    if (GateFile* gate = file.load()) return gate->state();
    return std::make_shared<const Result<GateState>>(Error{Code::internal, "the gate was not started"});
}

// A script is read only where that can change the answer: for jobs that did not come through Slurm's own
// commands (those leave their command line), and for the courtesy warning.
ScriptFindings findings_of(const job_desc_msg_t& job, Request request, Change change) noexcept {
    if (change == Change::modify || request != Request::none) return {};
    return scan_script(script_of(job));
}

// slurmctld hands one message through all plugins (22.05 job_submit.c:236), and clients print each of its
// lines.
void tell(char** message, const std::string& line) {
    char* earlier = *message;
    *message =
        slurm_xstrdup(earlier == nullptr ? line.c_str() : (std::string(earlier) + "\n" + line).c_str());
    void* memory = earlier;
    if (memory != nullptr) slurm_xfree(&memory);
}

int refuse(const job_desc_msg_t& job, const std::string& line, char** message) {
    if (message != nullptr) tell(message, line);
    slurm_verbose("job_submit/llmgw: refused a job of user %u: %s", job.user_id, line.c_str());
    return ESLURM_SUBMISSIONS_DISABLED;
}

}  // namespace

void start() {
    if (file.load() == nullptr) file.store(new GateFile(run_directory() + "/gate"));
    if (users.load() == nullptr) users.store(new UsersFile(run_directory() + "/users"));
}

void stop() noexcept {
    delete file.exchange(nullptr);
    delete users.exchange(nullptr);
}

int check(const job_desc_msg_t* job, Change change, char** message) {
    if (job == nullptr) return SLURM_SUCCESS;
    if (change == Change::submit) {
        if (const std::optional<std::string> line = users_refuse(*job)) return refuse(*job, *line, message);
    }
    const Request request = request_of(*job);
    const ScriptFindings script = findings_of(*job, request, change);
    const bool dropped = request == Request::none && directive_was_dropped(*job, script);
    // A plain job never gets as far as the gate file.
    if (request == Request::none && !dropped && script.srun == Request::none) return SLURM_SUCCESS;

    Decision decision = decide(request, script, dropped, *current_state());
    if (decision.kind == Decision::Kind::admit && change == Change::submit &&
        later_component_was_dropped(*job, request)) {
        decision = refuse_later_component(*job, request);
    }
    if (decision.kind == Decision::Kind::admit) return SLURM_SUCCESS;
    if (decision.kind == Decision::Kind::refuse) return refuse(*job, decision.message, message);
    if (message != nullptr) tell(message, decision.message);
    return SLURM_SUCCESS;
}

}  // namespace llmgw::gate
