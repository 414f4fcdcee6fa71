// Nothing thrown leaves job_submit_llmgw.so. A fake of the gate behind the entry points does the throwing.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "fake_slurmctld.hpp"
#include "gate.hpp"
#include "version_stamp.hpp"

extern "C" {
int init() noexcept;
int fini() noexcept;
int job_submit(job_desc_msg_t*, std::uint32_t, char**) noexcept;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int job_modify(job_desc_msg_t*, void*, std::uint32_t, char**) noexcept;
#else
int job_modify(job_desc_msg_t*, void*, std::uint32_t) noexcept;
#endif
extern std::uint32_t plugin_version;
}

namespace llmgw::gate {
namespace {

enum class Throws { bad_alloc, runtime_error, number };
Throws kind;

[[noreturn]] void throw_it() {
    switch (kind) {
        case Throws::bad_alloc:
            throw std::bad_alloc();
        case Throws::runtime_error:
            throw std::runtime_error("thrown by the fake");
        case Throws::number:
            break;
    }
    throw 7;
}

}  // namespace

void start() {
    throw_it();
}

void stop() noexcept {}

int check(const job_desc_msg_t*, Change, char**) {
    throw_it();
}

std::uint32_t stamp_of_running_slurm(std::uint32_t built_for) noexcept {
    return built_for + 1;
}

namespace {

class Entries : public testing::TestWithParam<Throws> {
  protected:
    void SetUp() override {
        kind = GetParam();
        fake::log().clear();
    }
    static void expect_logged(const std::string& entry) {
        ASSERT_EQ(fake::log().size(), 1U);
        EXPECT_EQ(fake::log()[0].find("error: job_submit/llmgw: " + entry + ": "), 0U) << fake::log()[0];
    }
};

TEST_P(Entries, init_lets_slurmctld_start) {
    EXPECT_EQ(init(), SLURM_SUCCESS);
    expect_logged("init");
}

TEST_P(Entries, fini_has_nothing_to_throw) {
    EXPECT_EQ(fini(), SLURM_SUCCESS);
}

// The guard on the node still keeps a container job off the host.
TEST_P(Entries, job_submit_lets_the_job_through) {
    job_desc_msg_t job{};
    fake::Message message;
    EXPECT_EQ(job_submit(&job, 0, message.out()), SLURM_SUCCESS);
    EXPECT_TRUE(message.empty());
    expect_logged("job_submit");
}

TEST_P(Entries, job_modify_lets_the_job_through) {
    job_desc_msg_t job{};
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
    EXPECT_EQ(job_modify(&job, nullptr, 0, nullptr), SLURM_SUCCESS);
#else
    EXPECT_EQ(job_modify(&job, nullptr, 0), SLURM_SUCCESS);
#endif
    expect_logged("job_modify");
}

INSTANTIATE_TEST_SUITE_P(kinds, Entries,
                         testing::Values(Throws::bad_alloc, Throws::runtime_error, Throws::number));

TEST(PluginVersion, is_set_before_anyone_reads_it) {
    EXPECT_EQ(plugin_version, SLURM_VERSION_NUMBER + 1U);
}

}  // namespace
}  // namespace llmgw::gate
