#include "posix/stepd_worker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <filesystem>

#include "core/limits.hpp"
#include "fake_slurmstepd.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

constexpr std::int32_t me = 4711;
constexpr std::int32_t other = 4712;
// No process: that the fake is asked to adopt it is all that matters.
constexpr pid_t login = 4'000'000;

auto open_files() {
    const auto files = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(files), end(files));
}

class Worker : public testing::Test {
  protected:
    using Answers = fake::Slurmstepd::Answers;
    static Answers of(std::int32_t uid) {
        Answers answers;
        answers.uid = uid;
        return answers;
    }
    fake::Slurmstepd& step(std::uint32_t job, const Answers& answers) {
        steps.emplace_back(place.path(), job, answers);
        order.steps.push_back(steps.back().step());
        return steps.back();
    }
    Result<Taken> take(const std::string& library = FAKE_LIBSLURM_38) {
        order.library = library;
        order.owner = me;
        order.process = login;
        return take_login(order);
    }

    test::TemporaryDirectory place;
    std::deque<fake::Slurmstepd> steps;
    TakeOrder order;
};

TEST_F(Worker, has_nothing_to_say_without_slurms_library) {
    step(5, of(me));
    const auto none = take(place.file("libslurm.so.38"));
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, Code::missing);
    EXPECT_NE(none.error().message.find("libslurm"), std::string::npos);
}

TEST_F(Worker, takes_no_library_that_it_does_not_know) {
    step(5, of(me));
    for (const char* library : {FAKE_LIBSLURM_99, NO_LIBSLURM}) {
        const auto none = take(library);
        ASSERT_FALSE(none.ok()) << library;
        EXPECT_EQ(none.error().code, Code::invalid);
    }
    EXPECT_EQ(steps[0].adopted(), 0);
}

TEST_F(Worker, passes_over_jobs_of_others_and_those_that_ended) {
    step(5, of(other));
    Answers too_old = of(me);
    too_old.protocol = 0;
    step(6, too_old);
    step(7, of(-1));
    order.steps.push_back({place.path(), "n1", 8, 0});
    const auto none = take();
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none.value().login.step);
    EXPECT_TRUE(none.value().login.failures.empty());
    // The others may be too young to answer: they are asked again.
    EXPECT_EQ(none.value().login.foreign, std::vector<std::size_t>{0});
    for (const fake::Slurmstepd& each : steps) EXPECT_EQ(each.adopted(), 0);
}

// This process is in no job's cgroup, and so neither is the fake slurmstepd: nothing is adopted on its word.
TEST_F(Worker, adopts_nothing_into_a_step_that_is_not_known_by_cgroups) {
    for (const char* library : {FAKE_LIBSLURM_38, FAKE_LIBSLURM_45}) {
        step(5, of(me));
        const auto none = take(library);
        ASSERT_TRUE(none.ok()) << library;
        EXPECT_FALSE(none.value().login.step);
        ASSERT_EQ(none.value().login.failures.size(), 1U);
        EXPECT_NE(none.value().login.failures[0].find("job 5"), std::string::npos);
        EXPECT_NE(none.value().login.failures[0].find("proctrack/cgroup"), std::string::npos);
        EXPECT_EQ(steps[0].adopted(), 0);
        steps.clear();
        order.steps.clear();
        std::filesystem::remove(place.file("n1_5.4294967292"));
    }
}

TEST_F(Worker, asks_many_and_finds_the_one) {
    for (std::uint32_t job = 1; job <= 40; ++job) step(job, of(job == 33 ? me : other));
    const auto none = take();
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(none.value().login.foreign.size(), 39U);
    ASSERT_EQ(none.value().login.failures.size(), 1U);
    EXPECT_NE(none.value().login.failures[0].find("job 33 "), std::string::npos);
}

TEST_F(Worker, passes_over_a_slurmstepd_that_hangs) {
    Answers hanging = of(me);
    hanging.silent = true;
    step(6, hanging);
    step(5, of(other));
    const auto none = take();
    ASSERT_TRUE(none.ok());
    ASSERT_EQ(none.value().login.failures.size(), 1U);
    EXPECT_NE(none.value().login.failures[0].find("job 6 doesn't answer"), std::string::npos);
    EXPECT_EQ(none.value().login.foreign, std::vector<std::size_t>{1});
}

TEST_F(Worker, leaves_no_descriptor_no_child_and_no_signal_changed) {
    step(5, of(other));
    const auto before = open_files();
    sigset_t mask_before;
    sigset_t mask_after;
    ::sigprocmask(SIG_SETMASK, nullptr, &mask_before);
    ASSERT_TRUE(take().ok());
    ::sigprocmask(SIG_SETMASK, nullptr, &mask_after);
    EXPECT_EQ(open_files(), before);
    for (const int number : {SIGCHLD, SIGTERM, SIGALRM, SIGPIPE}) {
        EXPECT_EQ(::sigismember(&mask_before, number), ::sigismember(&mask_after, number));
    }
}

}  // namespace
}  // namespace llmgw
