#include "core/login_verdict.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

// Without SLURM_JOB_ID, which is known, and without what belongs to one step only.
constexpr std::string_view passed[] = {
    "SLURM_JOB_GPUS",       "SLURM_GPUS_ON_NODE",  "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",     "GPU_DEVICE_ORDINAL",
    "SLURM_JOB_UID",        "SLURM_JOB_PARTITION", "SLURM_JOB_NUM_NODES",  "SLURM_JOB_NODELIST",
    "SLURM_CLUSTER_NAME",   "SLURM_CPUS_ON_NODE",  "SLURM_ARRAY_JOB_ID",   "SLURM_ARRAY_TASK_ID",
    "SLURM_HET_SIZE"};

// Numbers, lists of them, UUIDs, names of nodes and partitions.
bool is_job_value(std::string_view value) {
    return !value.empty() && value.size() <= limits::job_variable_bytes &&
           std::all_of(value.begin(), value.end(), [](char c) {
               return is_alphanumeric(c) || contains("-_.,:/[]()", std::string_view(&c, 1));
           });
}

}  // namespace

HostKind host_kind(LoginRole role, const HostFacts& facts) {
    if (role == LoginRole::none) return HostKind::inert;
    if (role == LoginRole::node) return HostKind::node;
    if (facts.controller) return HostKind::inert;
    return facts.slurmd_left || !facts.unknown.empty() ? HostKind::node : HostKind::inert;
}

std::string why_refused(const LoginFindings& findings) {
    if (!findings.failures.empty()) return findings.failures.front();
    if (!findings.suspended.empty()) {
        const std::string job = std::to_string(findings.suspended.front());
        return "your job " + job + " is suspended here; log in when it runs again (scontrol resume " + job +
               ")";
    }
    if (findings.wanted) {
        return "job " + std::to_string(*findings.wanted) +
               " is no job of yours that runs here; squeue --me shows yours";
    }
    if (findings.without_extern) {
        return "the jobs here have no step that takes logins; an administrator has to set "
               "PrologFlags=Contain in slurm.conf";
    }
    return "no job of yours runs on this machine; start one (sbatch, salloc) and log in while it runs";
}

std::vector<std::string> job_variables(std::string_view environment, std::uint32_t job) {
    const std::string own = "SLURM_JOB_ID=" + std::to_string(job);
    bool of_job = false;
    std::vector<std::string> found;
    for (const std::string_view entry : split(environment, '\0')) {
        of_job = of_job || entry == own;
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos || !is_job_value(entry.substr(equals + 1))) continue;
        const std::string_view name = entry.substr(0, equals);
        const bool known = std::find(std::begin(passed), std::end(passed), name) != std::end(passed);
        const bool twice = std::any_of(found.begin(), found.end(), [&](const std::string& each) {
            return each.starts_with(std::string(name) + "=");
        });
        if (known && !twice) found.emplace_back(entry);
    }
    return of_job ? found : std::vector<std::string>();
}

}  // namespace llmgw
