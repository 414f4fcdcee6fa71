#include "posix/stepd_worker.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/limits.hpp"
#include "fake_slurmstepd.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

constexpr std::int32_t me = 4711;
constexpr std::int32_t other = 4712;

std::size_t open_files() {
    const auto files = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

class Worker : public testing::Test {
  protected:
    using Answers = fake::Slurmstepd::Answers;
    [[nodiscard]] Answers of(std::int32_t uid) const {
        Answers answers;
        answers.uid = uid;
        return answers;
    }
    test::TemporaryDirectory place;
};

TEST_F(Worker, has_nothing_to_say_without_slurms_library) {
    const ExternStep step{place.path(), "n1", 5, 0};
    StepdWorker missing(place.file("libslurm.so.38"), {step}, me);
    const auto none = missing.next();
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, Code::missing);
    EXPECT_NE(none.error().message.find("libslurm"), std::string::npos);
}

TEST_F(Worker, takes_no_library_that_it_does_not_know) {
    const ExternStep step{place.path(), "n1", 5, 0};
    for (const char* library : {FAKE_LIBSLURM_99, NO_LIBSLURM}) {
        const auto none = StepdWorker(library, {step}, me).next();
        ASSERT_FALSE(none.ok()) << library;
        EXPECT_EQ(none.error().code, Code::invalid);
    }
}

TEST_F(Worker, passes_over_jobs_of_others_and_those_that_ended) {
    const fake::Slurmstepd theirs(place.path(), 5, of(other));
    Answers refusing = of(me);
    refusing.protocol = 0;
    const fake::Slurmstepd too_old(place.path(), 6, refusing);
    const fake::Slurmstepd unsure(place.path(), 7, of(-1));
    const ExternStep ended{place.path(), "n1", 8, 0};
    StepdWorker worker(FAKE_LIBSLURM_38, {theirs.step(), too_old.step(), unsure.step(), ended}, me);
    const auto none = worker.next();
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none.value());
    EXPECT_TRUE(worker.silent().empty());
}

TEST_F(Worker, nobody_is_user_minus_one) {
    const fake::Slurmstepd unsure(place.path(), 7, of(-1));
    EXPECT_FALSE(StepdWorker(FAKE_LIBSLURM_38, {unsure.step()}, static_cast<uid_t>(-1)).next().value());
}

TEST_F(Worker, finds_and_adopts_with_either_layout_of_a_steps_number) {
    for (const char* library : {FAKE_LIBSLURM_38, FAKE_LIBSLURM_45}) {
        test::TemporaryDirectory own;
        const fake::Slurmstepd theirs(own.path(), 5, of(other));
        const fake::Slurmstepd mine(own.path(), 6, of(me));
        StepdWorker worker(library, {theirs.step(), mine.step()}, me);
        const auto found = worker.next();
        ASSERT_TRUE(found.ok() && found.value()) << library;
        EXPECT_EQ(found.value()->step, mine.step());
        EXPECT_EQ(found.value()->slurmstepd, ::getpid());
        EXPECT_TRUE(worker.adopt(1234).ok());
        EXPECT_EQ(mine.adopted(), 1234);
        EXPECT_EQ(theirs.adopted(), 0);
        const auto namespaces = worker.namespaces();
        ASSERT_TRUE(namespaces.ok());
        EXPECT_TRUE(namespaces.value().empty());
        EXPECT_FALSE(worker.next().value());
    }
}

TEST_F(Worker, goes_on_to_the_next_job_when_one_refuses) {
    Answers refusing = of(me);
    refusing.adopt = -1;
    const fake::Slurmstepd ending(place.path(), 6, refusing);
    const fake::Slurmstepd mine(place.path(), 5, of(me));
    StepdWorker worker(FAKE_LIBSLURM_38, {ending.step(), mine.step()}, me);
    ASSERT_TRUE(worker.next().value());
    EXPECT_FALSE(worker.adopt(1234).ok());
    const auto second = worker.next();
    ASSERT_TRUE(second.ok() && second.value());
    EXPECT_EQ(second.value()->step.job, 5U);
    EXPECT_TRUE(worker.adopt(1234).ok());
}

TEST_F(Worker, outlives_a_library_that_ends_its_process) {
    Answers fatal = of(me);
    fatal.adopt = 99;
    const fake::Slurmstepd broken(place.path(), 6, fatal);
    const fake::Slurmstepd mine(place.path(), 5, of(me));
    StepdWorker worker(FAKE_LIBSLURM_38, {broken.step(), mine.step()}, me);
    ASSERT_TRUE(worker.next().value());
    EXPECT_FALSE(worker.adopt(1234).ok());
    const auto second = worker.next();
    ASSERT_TRUE(second.ok() && second.value());
    EXPECT_EQ(second.value()->step.job, 5U);
}

TEST_F(Worker, passes_over_a_slurmstepd_that_hangs) {
    Answers hanging = of(me);
    hanging.silent = true;
    const fake::Slurmstepd hangs(place.path(), 6, hanging);
    const fake::Slurmstepd mine(place.path(), 5, of(me));
    StepdWorker worker(FAKE_LIBSLURM_38, {hangs.step(), mine.step()}, me);
    const auto found = worker.next();
    ASSERT_TRUE(found.ok() && found.value());
    EXPECT_EQ(found.value()->step.job, 5U);
    EXPECT_EQ(worker.silent(), std::vector<std::uint32_t>{6});
}

TEST_F(Worker, hands_over_the_jobs_namespaces) {
    Answers contained = of(me);
    contained.namespaces = 1;
    const fake::Slurmstepd mine(place.path(), 5, contained);
    StepdWorker worker(FAKE_LIBSLURM_38, {mine.step()}, me);
    ASSERT_TRUE(worker.next().value());
    ASSERT_TRUE(worker.adopt(1234).ok());
    auto namespaces = worker.namespaces();
    ASSERT_TRUE(namespaces.ok());
    ASSERT_EQ(namespaces.value().size(), 1U);
    struct stat status {};
    EXPECT_EQ(::fstat(namespaces.value()[0].file.get(), &status), 0);
}

TEST_F(Worker, leaves_no_descriptor_no_child_and_no_signal_changed) {
    const fake::Slurmstepd theirs(place.path(), 5, of(other));
    const std::size_t before = open_files();
    sigset_t mask_before;
    sigset_t mask_after;
    ::sigprocmask(SIG_SETMASK, nullptr, &mask_before);
    {
        StepdWorker worker(FAKE_LIBSLURM_38, {theirs.step()}, other);
        ASSERT_TRUE(worker.next().value());
    }
    ::sigprocmask(SIG_SETMASK, nullptr, &mask_after);
    EXPECT_EQ(open_files(), before);
    EXPECT_EQ(::sigismember(&mask_before, SIGCHLD), ::sigismember(&mask_after, SIGCHLD));
    EXPECT_EQ(::sigismember(&mask_before, SIGTERM), ::sigismember(&mask_after, SIGTERM));
}

}  // namespace
}  // namespace llmgw
