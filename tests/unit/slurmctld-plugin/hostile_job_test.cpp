// Descriptors that no client of Slurm sends, but that anyone can write.
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "decision.hpp"
#include "fake_slurmctld.hpp"
#include "gate.hpp"
#include "job.hpp"

namespace llmgw::gate {
namespace {

using fake::Job;

constexpr std::uint32_t huge = 0xffffffff;

int submit(Job& job) {
    return check(job.get(), Change::submit, nullptr);
}

TEST(HostileJob, may_be_missing) {
    EXPECT_EQ(check(nullptr, Change::submit, nullptr), SLURM_SUCCESS);
}

TEST(HostileJob, may_have_nothing_in_it) {
    Job job;
    EXPECT_EQ(submit(job), SLURM_SUCCESS);
}

TEST(HostileJob, may_claim_entries_that_it_has_not) {
    Job job;
    job->env_size = huge;
    job->spank_job_env_size = huge;
    EXPECT_EQ(submit(job), SLURM_SUCCESS);
}

TEST(HostileJob, may_have_holes_between_entries) {
    Job job;
    job.environment({"A=b", "PYXIS_CONTAINER_IMAGE=x"}).job_control({"A=b", "B=c"});
    job->environment[0] = nullptr;
    job->spank_job_env[0] = nullptr;
    job->spank_job_env[1] = nullptr;
    EXPECT_EQ(submit(job), ESLURM_SUBMISSIONS_DISABLED);
}

TEST(HostileJob, may_have_entries_of_any_bytes) {
    Job job;
    job.environment({"", "=", "\xff\xfe", "\xc3=\x80", std::string(1 << 20, '='), "PYXIS_CONTAINER_IMAGE"})
        .script("\xff\xfe#SBATCH --container-image=x\n\x80\x81")
        .container("");
    EXPECT_EQ(submit(job), SLURM_SUCCESS);
}

TEST(HostileJob, may_have_a_script_of_any_size) {
    const std::string asks = "srun --container-image=x true\n";
    Job job;
    job.script(std::string(10 << 20, '-') + "\n#SBATCH --container-image=x\n" + asks);
    EXPECT_EQ(submit(job), SLURM_SUCCESS);
    Job repeated;
    std::string script;
    while (script.size() < (10U << 20)) script += "#SBATCH --container-mounts=/a:/b\n";
    repeated.script(script + "#SBATCH --container-image=x\n");
    EXPECT_EQ(submit(repeated), SLURM_SUCCESS);
}

TEST(HostileJob, gets_one_line_back_whatever_it_holds) {
    Job job;
    job.script("#SBATCH --container-image=\x1b[2J\xff\n\ntrue");
    fake::Message message;
    EXPECT_EQ(check(job.get(), Change::submit, message.out()), ESLURM_SUBMISSIONS_DISABLED);
    EXPECT_EQ(message.text().find_first_of("\n\x1b\xff"), std::string::npos);
}

}  // namespace
}  // namespace llmgw::gate
