#include "slurm-node/jobs.hpp"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <memory>

#include "slurm-node/slurm_api.hpp"

namespace llmgw::slurm_node {
namespace {

Error failure(std::uint32_t job) {
    return {Code::unavailable, "job " + std::to_string(job) + ": " + slurm_strerror(errno)};
}

bool is_gone(int error) {
    return error == ESLURM_INVALID_JOB_ID || error == ESLURM_ALREADY_DONE || error == ESLURM_JOB_PENDING;
}

bool is_over(const slurm_job_info_t& job) {
    const std::uint64_t base = job.job_state & job_base;
    return base >= JOB_COMPLETE && (job.job_state & job_completing) == 0;
}

std::string login_of(uid_t uid) {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 16384> buffer{};
    if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return found->pw_name;
    return std::to_string(uid);
}

SlurmJob job_from(const slurm_job_info_t& info) {
    SlurmJob job;
    job.id = number_of(info);
    job.user = login_of(info.user_id);
    job.ends = info.time_limit == INFINITE ? 0 : info.end_time;
    job.batch = info.batch_flag != 0;
    return job;
}

void collect(const Jobs& from, const char* node, std::vector<SlurmJob>& into) {
    for (std::uint32_t i = 0; i < from->record_count; ++i) {
        const slurm_job_info_t& info = from->job_array[i];
        if (is_over(info) || (info.job_state & job_base) == JOB_PENDING) continue;
        if (node != nullptr) {
            auto hosts = slurm_hostlist_create(info.nodes == nullptr ? "" : info.nodes);
            const bool here = hosts != nullptr && slurm_hostlist_find(hosts, node) >= 0;
            slurm_hostlist_destroy(hosts);
            if (!here) continue;
        }
        into.push_back(job_from(info));
    }
}

}  // namespace

Result<std::vector<SlurmJob>> jobs_by_number(const std::vector<std::uint32_t>& numbers) {
    std::vector<SlurmJob> jobs;
    for (const std::uint32_t number : numbers) {
        job_info_msg_t* raw = nullptr;
        if (slurm_load_job(&raw, job_number(number), show_all) != SLURM_SUCCESS) {
            if (is_gone(errno)) continue;
            return failure(number);
        }
        collect(Jobs(raw), nullptr, jobs);
    }
    return jobs;
}

Result<std::vector<SlurmJob>> jobs_on(const std::string& node) {
    job_info_msg_t* raw = nullptr;
    if (slurm_load_jobs(0, &raw, show_all) != SLURM_SUCCESS)
        return Error{Code::unavailable, std::string("jobs: ") + slurm_strerror(errno)};
    std::vector<SlurmJob> jobs;
    collect(Jobs(raw), node.c_str(), jobs);
    return jobs;
}

Result<void> end_job(std::uint32_t number, bool requeue, const std::string& message) {
    // What it can't be told, it can still be ended.
    std::string text = message;
    slurm_notify_job(job_number(number), text.data());
    if (requeue && slurm_requeue(job_number(number), 0) == SLURM_SUCCESS) return {};
    if (requeue && is_gone(errno)) return {};
    if (slurm_kill_job(job_number(number), SIGKILL, 0) == SLURM_SUCCESS || is_gone(errno)) return {};
    return failure(number);
}

}  // namespace llmgw::slurm_node
