#include "packages/transaction.hpp"

#include "unit/packages/machine.hpp"

namespace llmgw::packages {
namespace {

// Fails for a lock as often as it is told, then works.
class Runner : public TaskRunner {
  public:
    Result<TaskResult> run(const Task& task, const std::stop_token&) override {
        tasks.push_back(task);
        if (failures > 0) {
            --failures;
            return TaskResult{100, failure};
        }
        return TaskResult{0, "done\n"};
    }
    std::vector<Task> tasks;
    int failures = 0;
    std::string failure = "E: locked\n";
};

class Transaction : public ::testing::Test {
  protected:
    Result<TaskResult> go(std::chrono::seconds patience, const std::stop_token& stop = {}) {
        const Locks locks{[this] { return holder_; },
                          [](const std::string& output) { return mentions(output, "locked"); }, patience};
        const MakeTask make = [](std::chrono::seconds left) {
            Task task;
            task.description = std::to_string(left.count());
            return task;
        };
        return run_when_free(runner_, make, locks, watched_.progress, stop);
    }
    Runner runner_;
    Watched watched_;
    std::optional<LockHolder> holder_;
};

TEST_F(Transaction, RunsAtOnceWhenNobodyIsAtWork) {
    ASSERT_FINE(go(std::chrono::seconds(900)));
    ASSERT_EQ(runner_.tasks.size(), 1U);
    EXPECT_GT(std::stoi(runner_.tasks[0].description), 800);
    EXPECT_TRUE(watched_.sentences.empty());
}

TEST_F(Transaction, RunsAgainWhenSomebodyWasFaster) {
    runner_.failures = 2;
    const Result<TaskResult> result = go(std::chrono::seconds(900));
    ASSERT_FINE(result);
    EXPECT_TRUE(result.value().success());
    EXPECT_EQ(runner_.tasks.size(), 3U);
}

TEST_F(Transaction, GivesUpAfterItsPatience) {
    runner_.failures = 1000;
    const Result<TaskResult> result = go(std::chrono::seconds(0));
    ASSERT_REFUSED(result, Code::timeout);
    EXPECT_TRUE(mentions(result.error().message, "\"E: locked\"")) << result.error().message;
    holder_ = LockHolder{"/l", 1, "apt"};
    const std::size_t runs = runner_.tasks.size();
    ASSERT_REFUSED(go(std::chrono::seconds(0)), Code::timeout);
    EXPECT_EQ(runner_.tasks.size(), runs);
}

TEST_F(Transaction, LeavesOtherFailuresToWhoeverCalls) {
    runner_.failures = 1;
    runner_.failure = "E: something else\n";
    const Result<TaskResult> result = go(std::chrono::seconds(900));
    ASSERT_FINE(result);
    EXPECT_EQ(result.value().exit_code, 100);
    EXPECT_EQ(runner_.tasks.size(), 1U);
}

TEST_F(Transaction, StopsWaiting) {
    runner_.failures = 1000;
    std::stop_source stop;
    stop.request_stop();
    ASSERT_REFUSED(go(std::chrono::seconds(900), stop.get_token()), Code::unavailable);
}

}  // namespace
}  // namespace llmgw::packages
