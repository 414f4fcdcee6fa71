#include "core/login_verdict.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

TEST(HostKind, is_a_node_when_it_cannot_be_told) {
    EXPECT_EQ(host_kind(LoginRole::automatic, {false, false, "slurm.conf can't be read"}), HostKind::node);
    EXPECT_EQ(host_kind(LoginRole::automatic, {false, true, ""}), HostKind::node);
    EXPECT_EQ(host_kind(LoginRole::node, {true, false, ""}), HostKind::node);
}

TEST(HostKind, is_inert_on_controllers_and_where_no_slurmd_was) {
    EXPECT_EQ(host_kind(LoginRole::automatic, {true, true, ""}), HostKind::inert);
    EXPECT_EQ(host_kind(LoginRole::automatic, {false, false, ""}), HostKind::inert);
    EXPECT_EQ(host_kind(LoginRole::none, {false, true, "unknown"}), HostKind::inert);
}

bool says(const LoginFindings& findings, const std::string& part) {
    return why_refused(findings).find(part) != std::string::npos;
}

TEST(WhyRefused, tells_the_reason_that_is_nearest) {
    EXPECT_TRUE(says({}, "no job of yours"));
    EXPECT_TRUE(says({std::nullopt, {}, {}, true}, "PrologFlags=Contain"));
    EXPECT_TRUE(says({7, {}, {}, false}, "job 7 is no job of yours"));
    EXPECT_TRUE(says({7, {7}, {}, false}, "scontrol resume 7"));
    EXPECT_TRUE(says({std::nullopt, {7}, {"broken"}, true}, "broken"));
}

std::vector<std::string> of(const std::string& text) {
    return job_variables(text, 5);
}

TEST(JobVariables, are_none_of_another_jobs_process) {
    using namespace std::string_literals;
    EXPECT_TRUE(of("").empty());
    EXPECT_TRUE(of("SLURM_JOB_GPUS=0\0"s).empty());
    EXPECT_TRUE(of("SLURM_JOB_GPUS=0\0SLURM_JOB_ID=55\0"s).empty());
}

TEST(JobVariables, pass_by_name_and_only_with_plain_values) {
    using namespace std::string_literals;
    EXPECT_TRUE(of("SLURM_JOB_ID=5\0LD_PRELOAD=/tmp/x\0PATH=/tmp\0BASH_ENV=x\0SLURM_CONF=/tmp/x\0"s).empty());
    EXPECT_TRUE(
        of("SLURM_JOB_ID=5\0CUDA_VISIBLE_DEVICES=`id`\0SLURM_JOB_GPUS=0\n1\0SLURM_JOB_UID=\0"s).empty());
    EXPECT_EQ(
        of("CUDA_VISIBLE_DEVICES=0,1\0SLURM_JOB_ID=5\0SLURM_JOB_GPUS=GPU-8a6f1c2e-1\0CUDA_VISIBLE_DEVICES=7\0"s),
        (std::vector<std::string>{"CUDA_VISIBLE_DEVICES=0,1", "SLURM_JOB_GPUS=GPU-8a6f1c2e-1"}));
}

TEST(JobVariables, end_at_the_limit) {
    const std::string job("SLURM_JOB_ID=5\0", 15);
    const std::string most(limits::job_variable_bytes, '1');
    EXPECT_EQ(of(job + "SLURM_JOB_GPUS=" + most).size(), 1U);
    EXPECT_TRUE(of(job + "SLURM_JOB_GPUS=" + most + "1").empty());
}

}  // namespace
}  // namespace llmgw
