// Slurm's API, in the one place that includes it, with what differs between 22.05 and 26.05 made equal.
#pragma once

extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#pragma GCC diagnostic pop
}

#include <cstdint>
#include <memory>

namespace llmgw::slurm_node {

// A node's or job's state is a base state and these. Slurm's own names are macros with a cast in them (24.11
// and later).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
inline constexpr std::uint64_t state_base = NODE_STATE_BASE;
inline constexpr std::uint64_t state_drain = NODE_STATE_DRAIN;
inline constexpr std::uint64_t state_undrain = NODE_STATE_UNDRAIN;
inline constexpr std::uint64_t state_completing = NODE_STATE_COMPLETING;
inline constexpr std::uint64_t state_fail = NODE_STATE_FAIL;
inline constexpr std::uint64_t state_no_respond = NODE_STATE_NO_RESPOND;
inline constexpr std::uint64_t state_invalid_reg = NODE_STATE_INVALID_REG;
inline constexpr std::uint64_t state_power =
    NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP;
inline constexpr std::uint16_t show_all = SHOW_ALL;
inline constexpr std::uint64_t job_base = JOB_STATE_BASE;
inline constexpr std::uint64_t job_completing = JOB_COMPLETING;
#pragma GCC diagnostic pop

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
inline slurm_step_id_t job_number(std::uint32_t job) {
    slurm_step_id_t id{};
    id.job_id = job;
    id.step_id = NO_VAL;
    id.step_het_comp = NO_VAL;
    return id;
}
inline std::uint32_t number_of(const slurm_job_info_t& job) {
    return job.step_id.job_id;
}
#else
inline std::uint32_t job_number(std::uint32_t job) {
    return job;
}
inline std::uint32_t number_of(const slurm_job_info_t& job) {
    return job.job_id;
}
#endif

struct FreeNodes {
    void operator()(node_info_msg_t* nodes) const noexcept { slurm_free_node_info_msg(nodes); }
};
using Nodes = std::unique_ptr<node_info_msg_t, FreeNodes>;

struct FreeJobs {
    void operator()(job_info_msg_t* jobs) const noexcept { slurm_free_job_info_msg(jobs); }
};
using Jobs = std::unique_ptr<job_info_msg_t, FreeJobs>;

}  // namespace llmgw::slurm_node
