// The gate as slurmctld sees it: entry points, gate file, descriptors. Refusals first.
#include "gate.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "core/container_request.hpp"
#include "core/gate_state.hpp"
#include "fake_slurmctld.hpp"
#include "job.hpp"
#include "posix/file.hpp"

extern "C" {
int init() noexcept;
int fini() noexcept;
int job_submit(job_desc_msg_t*, std::uint32_t, char**) noexcept;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int job_modify(job_desc_msg_t*, void*, std::uint32_t, char**) noexcept;
#else
int job_modify(job_desc_msg_t*, void*, std::uint32_t) noexcept;
#endif
}

namespace llmgw::gate {
namespace {

using fake::Job;
using fake::Message;

enum class File { open, closed, missing, garbage };

int modify(job_desc_msg_t* job, char** message) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
    return job_modify(job, nullptr, 0, message);
#else
    (void)message;
    return job_modify(job, nullptr, 0);
#endif
}

class Gate : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "llmgw-gate-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        ::setenv("LLMGW_SLURM_RUN_DIR", directory_.c_str(), 1);
        ASSERT_EQ(init(), SLURM_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(fini(), SLURM_SUCCESS);
        ::unsetenv("LLMGW_SLURM_RUN_DIR");
        std::filesystem::remove_all(directory_);
    }
    void set(File file, bool oci = false) const {
        std::filesystem::remove(directory_ + "/gate");
        if (file == File::missing) return;
        const GateState state{file == File::open, 1, oci,
                              file == File::open ? "ready" : "llmgw: not yet: n2"};
        const std::string text = file == File::garbage ? "open\n" : format_gate_state(state);
        ASSERT_TRUE(write_file_atomically(directory_ + "/gate", text, 0644, Durability::volatile_));
    }
    static void expect_refused(Job& job, const std::string& why) {
        Message message;
        EXPECT_EQ(job_submit(job.get(), 1000, message.out()), ESLURM_SUBMISSIONS_DISABLED);
        EXPECT_NE(message.text().find(why), std::string::npos) << message.text();
        EXPECT_EQ(message.text().find('\n'), std::string::npos);
        // A caller that wants no message, as job_modify of 22.05.
        EXPECT_EQ(job_submit(job.get(), 1000, nullptr), ESLURM_SUBMISSIONS_DISABLED);
        EXPECT_EQ(modify(job.get(), nullptr), ESLURM_SUBMISSIONS_DISABLED);
    }
    static void expect_admitted(Job& job) {
        Message message;
        EXPECT_EQ(job_submit(job.get(), 1000, message.out()), SLURM_SUCCESS);
        EXPECT_TRUE(message.empty()) << message.text();
        EXPECT_EQ(modify(job.get(), message.out()), SLURM_SUCCESS);
        EXPECT_TRUE(message.empty());
    }
    std::string directory_;
};

class GateDecides : public Gate, public testing::WithParamInterface<RequestVariable> {
  protected:
    void expect_table(Job& job) {
        set(File::closed);
        expect_refused(job, "llmgw: not yet: n2");
        set(File::missing);
        expect_refused(job, "Is llmgw-slurm-helper running on the controller?");
        set(File::garbage);
        expect_refused(job, "the state of this cluster is unknown");
        set(File::open);
        expect_admitted(job);
    }
    [[nodiscard]] std::string entry() const { return std::string(GetParam().name) + "=x"; }
};

TEST_P(GateDecides, on_a_variable_in_the_environment_only) {
    Job job;
    expect_table(job.environment({"PATH=/bin", entry()}));
}

TEST_P(GateDecides, on_a_variable_in_the_job_control_environment_only) {
    Job job;
    expect_table(job.job_control({entry()}));
}

INSTANTIATE_TEST_SUITE_P(every, GateDecides, testing::ValuesIn(request_variables));

TEST_F(Gate, refuses_oci_without_a_runtime) {
    Job job;
    job.container("/bundle");
    for (const File file : {File::open, File::closed}) {
        set(file);
        expect_refused(job, "--container needs an OCI runtime");
    }
    for (const File file : {File::missing, File::garbage}) {
        set(file);
        expect_refused(job, "the state of this cluster is unknown");
    }
}

TEST_F(Gate, leaves_oci_with_a_runtime_to_slurm) {
    Job job;
    job.container("/bundle");
    for (const File file : {File::open, File::closed}) {
        set(file, true);
        expect_admitted(job);
    }
}

TEST_F(Gate, refuses_a_directive_that_the_client_did_not_read) {
    Job job;
    job.script("#!/bin/sh\n#SBATCH --container-image=x\ntrue\n");
    for (const File file : {File::open, File::closed, File::missing, File::garbage}) {
        set(file);
        Message message;
        EXPECT_EQ(job_submit(job.get(), 1000, message.out()), ESLURM_SUBMISSIONS_DISABLED);
        EXPECT_NE(message.text().find("only sbatch reads #SBATCH lines"), std::string::npos);
    }
}

TEST_F(Gate, warns_of_an_srun_line_and_admits) {
    Job job;
    job.script("#!/bin/sh\nsrun --container-image=x true\n");
    for (const File file : {File::closed, File::missing, File::garbage}) {
        set(file);
        Message message;
        EXPECT_EQ(job_submit(job.get(), 1000, message.out()), SLURM_SUCCESS);
        EXPECT_NE(message.text().find("line 2 of the script runs srun"), std::string::npos);
    }
    set(File::open);
    expect_admitted(job);
}

TEST_F(Gate, admits_plain_jobs_in_every_state) {
    Job job;
    job.environment({"PATH=/bin"}).job_control({"A=b"}).script("#!/bin/sh\nsrun hostname\n");
    for (const File file : {File::open, File::closed, File::missing, File::garbage}) {
        set(file);
        expect_admitted(job);
    }
}

TEST_F(Gate, keeps_what_another_plugin_tells_the_user) {
    set(File::closed);
    for (const char* script :
         {"#!/bin/sh\nsrun --container-image=x true\n", "#SBATCH --container-image=x\n"}) {
        Job job;
        job.script(script);
        Message message;
        *message.out() = slurm_xstrdup("lua: your account ends soon");
        (void)job_submit(job.get(), 1000, message.out());
        EXPECT_EQ(message.text().find("lua: your account ends soon\nllmgw: line "), 0U) << message.text();
    }
}

TEST_F(Gate, logs_a_refusal_once) {
    set(File::closed);
    fake::log().clear();
    Job job;
    job.environment({"PYXIS_CONTAINER_IMAGE=x"})->user_id = 1000;
    EXPECT_NE(job_submit(job.get(), 1000, nullptr), SLURM_SUCCESS);
    EXPECT_EQ(fake::log(), std::vector<std::string>{
                               "verbose: job_submit/llmgw: refused a job of user 1000: llmgw: not yet: n2"});
}

TEST_F(Gate, is_closed_to_containers_and_open_to_others_before_it_was_started) {
    set(File::open);
    EXPECT_EQ(fini(), SLURM_SUCCESS);
    Job container;
    Job plain;
    expect_refused(container.environment({"PYXIS_CONTAINER_IMAGE=x"}), "the gate was not started");
    expect_admitted(plain);
}

// llmgw's users.

class GateForUsers : public Gate {
  protected:
    void users(const std::string& ours, const std::string& everywhere,
               const std::string& waiting = "-") const {
        put("llmgw-slurm-users 1\nstate checked\nours " + ours + "\neverywhere " + everywhere + "\nwaiting " +
            waiting + "\nend\n");
    }
    void put(const std::string& text) const {
        ASSERT_TRUE(write_file_atomically(directory_ + "/users", text, 0644, Durability::volatile_).ok());
    }
    static int submit_as(std::uint32_t uid, Message& message) {
        Job job;
        job->user_id = uid;
        return job_submit(job.get(), uid, message.out());
    }
    static int submit_as(std::uint32_t uid) {
        Message message;
        return submit_as(uid, message);
    }
};

TEST_F(GateForUsers, a_plain_job_waits_until_every_machine_has_its_user) {
    users("200000-200001", "200000", "200001 not on n2 yet");
    Message message;
    EXPECT_EQ(submit_as(200001, message), ESLURM_SUBMISSIONS_DISABLED);
    EXPECT_NE(message.text().find("your account is not on n2 yet"), std::string::npos) << message.text();
    EXPECT_EQ(submit_as(200000), SLURM_SUCCESS);
    users("200000-200001", "200000-200001");
    EXPECT_EQ(submit_as(200001), SLURM_SUCCESS);
}

TEST_F(GateForUsers, nobody_else_is_looked_at) {
    users("200000", "-");
    for (const std::uint32_t uid : {0U, 1000U, 199999U, 200001U, 524288U, 4294967294U})
        EXPECT_EQ(submit_as(uid), SLURM_SUCCESS) << uid;
    EXPECT_EQ(submit_as(200000), ESLURM_SUBMISSIONS_DISABLED);
}

TEST_F(GateForUsers, fails_open) {
    EXPECT_EQ(submit_as(200000), SLURM_SUCCESS);
    users("200000", "-");
    EXPECT_EQ(submit_as(200000), ESLURM_SUBMISSIONS_DISABLED);
    put("garbage");
    EXPECT_EQ(submit_as(200000), SLURM_SUCCESS);
    users("200000", "-");
    ASSERT_EQ(::chmod((directory_ + "/users").c_str(), 0666), 0);
    EXPECT_EQ(submit_as(200000), SLURM_SUCCESS);
    users("200000", "-");
    std::filesystem::remove(directory_ + "/users");
    EXPECT_EQ(submit_as(200000), SLURM_SUCCESS);
}

TEST_F(GateForUsers, a_job_that_is_there_may_be_changed) {
    users("200000", "-");
    Job job;
    job->user_id = 200000;
    Message message;
    EXPECT_EQ(modify(job.get(), message.out()), SLURM_SUCCESS);
}

}  // namespace
}  // namespace llmgw::gate
