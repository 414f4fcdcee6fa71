// Nothing thrown leaves a plugin: every entry point of the guard, every kind of exception, every
// SPANK function it may come from.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "fake_spank.hpp"

extern "C" {
int slurm_spank_init(spank_t, int, char**);
int slurm_spank_init_post_opt(spank_t, int, char**);
int slurm_spank_job_prolog(spank_t, int, char**);
int slurm_spank_task_init(spank_t, int, char**);
}

namespace llmgw {
namespace {

using fake::spank;
using fake::Throws;
using testing::ExitedWithCode;

struct Entry {
    const char* name;
    int (*function)(spank_t, int, char**);
    spank_context_t context;
    std::vector<const char*> throwers;
};

class Entries : public testing::TestWithParam<std::tuple<Entry, Throws>> {};

TEST_P(Entries, return_their_fail_code) {
    const auto& [entry, kind] = GetParam();
    for (const char* thrower : entry.throwers) {
        fake::reset();
        spank().context = entry.context;
        spank().throws = kind;
        spank().thrower = thrower;
        ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
        EXPECT_EQ(entry.function(fake::handle(), 0, nullptr), 0) << thrower;
        ::unsetenv("PYXIS_CONTAINER_IMAGE");
        ASSERT_EQ(spank().log.size(), 1U) << thrower;
        EXPECT_NE(spank().log[0].find("llmgw: slurm_spank_"), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(
    all, Entries,
    testing::Combine(
        testing::Values(
            Entry{
                "init", slurm_spank_init, S_CTX_REMOTE, {"spank_context", "spank_get_item", "spank_getenv"}},
            Entry{"post_opt",
                  slurm_spank_init_post_opt,
                  S_CTX_LOCAL,
                  {"spank_context", "spank_job_control_setenv"}},
            Entry{
                "task_init", slurm_spank_task_init, S_CTX_REMOTE, {"spank_get_item", "spank_option_getopt"}}),
        testing::Values(Throws::bad_alloc, Throws::runtime_error, Throws::number)),
    [](const auto& tested) {
        return std::string(std::get<0>(tested.param).name) + "_" +
               std::to_string(static_cast<int>(std::get<1>(tested.param)));
    });

class TaskInit : public testing::TestWithParam<Throws> {
  protected:
    void SetUp() override { fake::reset(); }
    [[noreturn]] static void run(const char* thrower) {
        (void)slurm_spank_init(fake::handle(), 0, nullptr);
        spank().throws = GetParam();
        spank().thrower = thrower;
        (void)slurm_spank_task_init(fake::handle(), 0, nullptr);
        ::_exit(0);
    }
};

TEST_P(TaskInit, ends_a_container_task_when_anything_throws) {
    for (const char* thrower : {"", "spank_get_item", "spank_getenv"}) {
        fake::reset();
        spank().environment["PYXIS_CONTAINER_IMAGE"] = "x";
        EXPECT_EXIT(run(thrower), ExitedWithCode(1), "error: llmgw: slurm_spank_task_init: ") << thrower;
    }
}

// The step is known by its options only, and what throws comes before they are looked at.
TEST_P(TaskInit, ends_a_container_task_that_only_the_options_know) {
    spank().options["container-name"] = "x";
    EXPECT_EXIT(run("spank_get_item"), ExitedWithCode(1), "error: llmgw: slurm_spank_task_init: ");
}

// Noting the step failed; the variables are looked at again in the task.
TEST_P(TaskInit, sees_a_request_that_could_not_be_noted) {
    spank().environment["PYXIS_CONTAINER_IMAGE"] = "x";
    const auto step = [] {
        spank().throws = GetParam();
        spank().thrower = "spank_getenv";
        (void)slurm_spank_init(fake::handle(), 0, nullptr);
        spank().throws = Throws::nothing;
        (void)slurm_spank_task_init(fake::handle(), 0, nullptr);
        ::_exit(0);
    };
    EXPECT_EXIT(step(), ExitedWithCode(1), "pyxis is not loaded here");
}

TEST_P(TaskInit, lets_a_plain_task_go_on) {
    for (const char* thrower : {"spank_get_item", "spank_option_getopt", ""}) {
        EXPECT_EXIT(run(thrower), ExitedWithCode(0), "error: llmgw: slurm_spank_task_init: ") << thrower;
    }
}

INSTANTIATE_TEST_SUITE_P(kinds, TaskInit,
                         testing::Values(Throws::bad_alloc, Throws::runtime_error, Throws::number));

}  // namespace
}  // namespace llmgw
