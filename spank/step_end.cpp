#include "step_end.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace llmgw::guard {
namespace {

// slurmctld answers within milliseconds or is down; then the step's own time limit ends it.
constexpr unsigned give_up_after_seconds = 5;

int kill_step(std::uint32_t job, std::uint32_t step) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
    slurm_step_id_t id{};
    id.job_id = job;
    id.step_id = step;
    id.step_het_comp = NO_VAL;
    return slurm_kill_job_step(&id, SIGKILL, 0);
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
    return slurm_kill_job_step(job, step, SIGKILL, 0);
#else
    return slurm_kill_job_step(job, step, SIGKILL);
#endif
}

}  // namespace

void end_step(spank_t task) {
    std::uint32_t nodes = 0;
    std::uint32_t job = 0;
    std::uint32_t step = 0;
    if (spank_get_item(task, S_JOB_NNODES, &nodes) != ESPANK_SUCCESS || nodes < 2) return;
    if (spank_get_item(task, S_JOB_ID, &job) != ESPANK_SUCCESS) return;
    if (spank_get_item(task, S_JOB_STEPID, &step) != ESPANK_SUCCESS || step >= SLURM_MAX_NORMAL_STEP_ID)
        return;
    // Should slurmctld not answer, the alarm ends this task, which is what is wanted of it.
    ::signal(SIGALRM, SIG_DFL);
    sigset_t alarm_only;
    ::sigemptyset(&alarm_only);
    ::sigaddset(&alarm_only, SIGALRM);
    ::sigprocmask(SIG_UNBLOCK, &alarm_only, nullptr);
    ::alarm(give_up_after_seconds);
    kill_step(job, step);
    ::alarm(0);
}

}  // namespace llmgw::guard
