// Entry points of job_submit_llmgw.so. On an error of our own a job is let through: the guard on the node
// still keeps a container job off the host, and a plain job must never be hurt.
#include "core/boundary.hpp"
#include "gate.hpp"
#include "version_stamp.hpp"

using namespace llmgw;

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern std::uint32_t plugin_version;
const char plugin_name[] = "llmgw: container jobs wait until every machine is ready";
const char plugin_type[] = "job_submit/llmgw";
std::uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

void report(const char* entry, const char* what) {
    slurm_error("job_submit/llmgw: %s: %s", entry, what);
}

// Runs when slurmctld opens the library, before it reads plugin_version.
[[gnu::constructor]] void take_stamp() {
    plugin_version = gate::stamp_of_running_slurm(SLURM_VERSION_NUMBER);
}

int checked(const char* entry, const job_desc_msg_t* job, gate::Change change, char** message) noexcept {
    return contained(entry, SLURM_SUCCESS, report, [&] { return gate::check(job, change, message); });
}

}  // namespace

extern "C" {

int init() noexcept {
    return contained("init", SLURM_SUCCESS, report, [] {
        gate::start();
        return SLURM_SUCCESS;
    });
}

int fini() noexcept {
    return contained("fini", SLURM_SUCCESS, report, [] {
        gate::stop();
        return SLURM_SUCCESS;
    });
}

int job_submit(job_desc_msg_t* job, std::uint32_t, char** message) noexcept {
    return checked("job_submit", job, gate::Change::submit, message);
}

// job_record_t is private to slurmctld. Before 23.02 there is no fourth argument, and so no way to tell the
// user.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int job_modify(job_desc_msg_t* job, void*, std::uint32_t, char** message) noexcept {
    return checked("job_modify", job, gate::Change::modify, message);
}
#else
int job_modify(job_desc_msg_t* job, void*, std::uint32_t) noexcept {
    return checked("job_modify", job, gate::Change::modify, nullptr);
}
#endif

}  // extern "C"
