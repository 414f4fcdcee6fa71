#include "service/path_check.hpp"

#include <gtest/gtest.h>

#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

// Gives the answer it was made with.
class FakeRunner final : public TaskRunner {
  public:
    explicit FakeRunner(Result<TaskResult> answer) : answer_(std::move(answer)) {}
    Result<TaskResult> run(const Task& task, const std::stop_token& /*stop*/) override {
        task_ = task;
        return answer_;
    }
    Task task_;

  private:
    Result<TaskResult> answer_;
};

const std::vector<PathNeed> needs{{PathUse::data, "/d"}, {PathUse::temp, "/t"}};

PathFinding found(PathUse use, const std::string& path) {
    PathFinding finding;
    finding.use = use;
    finding.path = path;
    finding.type = "ext4";
    finding.user_xattrs = finding.whiteouts = true;
    finding.free_bytes = 1ULL << 40;
    return finding;
}

TEST(ProbePaths, are_probed_by_a_task_of_their_own) {
    const std::vector<PathFinding> both{found(PathUse::data, "/d"), found(PathUse::temp, "/t")};
    FakeRunner runner(
        TaskResult{0, "noise\n" + state_text_of(both[0]) + "more noise\n" + state_text_of(both[1])});
    EXPECT_EQ(probe_paths(needs, "/usr/sbin/helper", runner, {}).value(), both);
    EXPECT_EQ(runner.task_.argv, (std::vector<std::string>{"/usr/sbin/helper", "--probe-path", "data=/d",
                                                           "--probe-path", "temp=/t"}));
    EXPECT_FALSE(runner.task_.unprivileged || runner.task_.read_only || runner.task_.private_tmp)
        << "it has to see what containers see";
}

TEST(ProbePaths, of_nothing_start_nothing) {
    FakeRunner runner(Error{Code::internal, "started"});
    EXPECT_TRUE(probe_paths({}, "/usr/sbin/helper", runner, {}).value().empty());
}

TEST(ProbePaths, say_why_they_are_not_known) {
    const auto reason = [](Result<TaskResult> answer) {
        FakeRunner runner(std::move(answer));
        const Result<std::vector<PathFinding>> findings = probe_paths(needs, "/usr/sbin/helper", runner, {});
        return findings ? std::string() : findings.error().message;
    };
    const std::string one = state_text_of(found(PathUse::data, "/d"));
    EXPECT_EQ(reason(Error{Code::timeout, "took too long"}),
              "cannot probe the paths of containers: took too long");
    EXPECT_EQ(reason(TaskResult{1, "x\nno such option\n"}),
              "cannot probe the paths of containers: \"no such option\"");
    EXPECT_EQ(reason(TaskResult{0, ""}), "cannot probe the paths of containers: it said nothing");
    EXPECT_NE(reason(TaskResult{0, one}), "") << "one is missing";
    EXPECT_NE(reason(TaskResult{0, one + one.substr(0, 40)}), "") << "half of one";
}

TEST(FirstUnfit, is_the_first_that_will_not_do) {
    PathFinding full = found(PathUse::temp, "/t");
    full.free_bytes = 0;
    EXPECT_EQ(first_unfit({found(PathUse::data, "/d")}), "");
    EXPECT_TRUE(first_unfit({found(PathUse::data, "/d"), full}).starts_with("/t is on ext4 with 0 MiB free"));
}

TEST(ProbeHere, prints_what_it_finds) {
    const test::TemporaryDirectory directory;
    testing::internal::CaptureStdout();
    EXPECT_EQ(probe_here({"shared=/", "temp=" + directory.file("x")}), 0);
    const std::string printed = testing::internal::GetCapturedStdout();
    FakeRunner runner(TaskResult{0, printed});
    const std::vector<PathFinding> findings = probe_paths(needs, "/x", runner, {}).value();
    EXPECT_EQ(findings[0].use, PathUse::shared);
    EXPECT_EQ(findings[0].path, "/");
    EXPECT_EQ(findings[1].use, PathUse::temp);
    EXPECT_EQ(findings[1].probed, directory.path());
    EXPECT_NE(probe_here({"nonsense"}), 0);
}

}  // namespace
}  // namespace llmgw::service
