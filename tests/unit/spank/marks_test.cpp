// The marks that a submit host leaves on a job, through the entry point.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/container_request.hpp"
#include "fake_spank.hpp"

extern "C" int slurm_spank_init(spank_t, int, char**);
extern "C" int slurm_spank_init_post_opt(spank_t, int, char**);

namespace llmgw {
namespace {

using fake::spank;

void forget_requests() {
    for (const RequestVariable& variable : request_variables) ::unsetenv(variable.name);
}

std::string mark_in_own_environment() {
    const char* mark = std::getenv(mark_in_environment);
    return mark == nullptr ? "" : mark;
}

class Marks : public testing::TestWithParam<spank_context_t> {
  protected:
    void SetUp() override {
        forget_requests();
        fake::reset();
        spank().context = GetParam();
    }
    void TearDown() override { forget_requests(); }
    static void submit() {
        EXPECT_EQ(slurm_spank_init(fake::handle(), 0, nullptr), 0);
        EXPECT_EQ(slurm_spank_init_post_opt(fake::handle(), 0, nullptr), 0);
    }
};

class ClientMarks : public Marks {};
class OtherMarks : public Marks {};

TEST_P(ClientMarks, are_set_for_every_way_to_ask) {
    for (const RequestVariable& variable : request_variables) {
        if (variable.request == Request::mark) continue;
        forget_requests();
        spank().job_control.clear();
        ::setenv(variable.name, "x", 1);
        submit();
        EXPECT_EQ(spank().job_control[mark_in_job_control], describe(variable.request)) << variable.name;
        EXPECT_EQ(mark_in_own_environment(), describe(variable.request)) << variable.name;
    }
}

TEST_P(ClientMarks, are_not_set_for_an_empty_variable) {
    ::setenv("PYXIS_CONTAINER_IMAGE", "", 1);
    submit();
    EXPECT_TRUE(spank().job_control.empty());
    EXPECT_EQ(mark_in_own_environment(), "");
}

// A plain step or job started from within a container job has inherited the mark.
TEST_P(ClientMarks, are_taken_away_where_only_inherited) {
    ::setenv(mark_in_environment, "--container-image", 1);
    spank().job_control[mark_in_job_control] = "--container-image";
    submit();
    EXPECT_TRUE(spank().job_control.empty());
    EXPECT_EQ(std::getenv(mark_in_environment), nullptr);
}

TEST_P(ClientMarks, name_what_asks_now_and_not_what_was_inherited) {
    ::setenv(mark_in_environment, "--container-image", 1);
    ::setenv("PYXIS_CONTAINER_NAME", "x", 1);
    submit();
    EXPECT_EQ(mark_in_own_environment(), "the variable PYXIS_CONTAINER_NAME");
}

TEST_P(ClientMarks, are_what_node_and_gate_look_for) {
    ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
    submit();
    for (const auto& [name, value] : spank().job_control) {
        EXPECT_EQ(request_in_entry(name + "=" + value), Request::mark);
    }
    EXPECT_EQ(request_in_entry(std::string(mark_in_environment) + "=" + mark_in_own_environment()),
              Request::mark);
}

// A program of its own for each test, in which the first job is the first component.
TEST_P(ClientMarks, say_of_later_components_that_the_first_one_asks_too) {
    ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
    submit();
    EXPECT_EQ(spank().job_control.count(mark_of_later_component), 0u);
    submit();
    EXPECT_EQ(spank().job_control.count(mark_of_later_component), 1u);
}

TEST_P(ClientMarks, say_nothing_of_later_components_when_the_first_one_does_not_ask) {
    spank().job_control[mark_of_later_component] = "inherited";
    submit();
    ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
    submit();
    EXPECT_EQ(spank().job_control.count(mark_of_later_component), 0u);
}

TEST_P(ClientMarks, are_the_first_lines_business) {
    ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
    char verify[] = "verify";
    char* words[] = {verify, nullptr};
    EXPECT_EQ(slurm_spank_init_post_opt(fake::handle(), 1, words), 0);
    EXPECT_EQ(spank().calls, std::vector<std::string>{"spank_context"});
}

INSTANTIATE_TEST_SUITE_P(local_and_allocator, ClientMarks, testing::Values(S_CTX_LOCAL, S_CTX_ALLOCATOR));

TEST_P(OtherMarks, are_left_alone_in_other_contexts) {
    ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
    EXPECT_EQ(slurm_spank_init_post_opt(fake::handle(), 0, nullptr), 0);
    EXPECT_TRUE(spank().job_control.empty());
    EXPECT_EQ(std::getenv(mark_in_environment), nullptr);
}

INSTANTIATE_TEST_SUITE_P(others, OtherMarks,
                         testing::Values(S_CTX_ERROR, S_CTX_REMOTE, S_CTX_SLURMD, S_CTX_JOB_SCRIPT));

class DaemonContexts : public Marks {};

TEST_P(DaemonContexts, see_nothing_of_the_guard) {
    ::setenv("PYXIS_CONTAINER_IMAGE", "x", 1);
    submit();
    EXPECT_EQ(spank().calls, (std::vector<std::string>{"spank_context", "spank_context"}));
    EXPECT_TRUE(spank().log.empty());
}

INSTANTIATE_TEST_SUITE_P(slurmd_and_scripts, DaemonContexts,
                         testing::Values(S_CTX_ERROR, S_CTX_SLURMD, S_CTX_JOB_SCRIPT));

}  // namespace
}  // namespace llmgw
