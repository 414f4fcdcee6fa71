// Who else is at work with dpkg and apt is waited for, with the real ones, in a root of their own.
#include "unit/packages/deb_root.hpp"
#include "unit/packages/lock_keeper.hpp"

namespace llmgw::packages {
namespace {

class DebLocks : public DebRoot, public ::testing::WithParamInterface<const char*> {};

TEST_P(DebLocks, WaitsForTheHolderAndNamesIt) {
    const std::string package = deb({"enroot", "1.0-1"});
    LockKeeper keeper(root_ + GetParam());
    ASSERT_TRUE(keeper.holds());
    const std::string who =
        "(PID " + std::to_string(keeper.process()) + "), which holds " + root_ + GetParam();
    bool named = false;
    const Progress progress = [&](const std::string& sentence) {
        if (!sentence.starts_with("waiting for ") || !mentions(sentence, who)) return;
        named = true;
        EXPECT_EQ(version_of("enroot"), "");
        keeper.let_go();
    };
    ASSERT_FINE(manager().install({{package}, {}}, progress, never_));
    EXPECT_TRUE(named);
    EXPECT_EQ(version_of("enroot"), "1.0-1");
    EXPECT_TRUE(there(root_ + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(EachFile, DebLocks,
                         ::testing::Values("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                                           "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"));

class DebLocked : public DebRoot {};

TEST_F(DebLocked, GivesUpInTheEndAndHasChangedNothing) {
    offer({deb({"curl", "8.0"})});
    const std::string package = deb({"enroot", "1.0-1"});
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    const std::string before = database();
    const LockKeeper keeper(root_ + "/var/lib/dpkg/lock-frontend");
    DebManager impatient = manager(std::chrono::seconds(0));
    const Result<void> installed = impatient.install({{}, {"curl"}}, {}, never_);
    ASSERT_REFUSED(installed, Code::timeout);
    EXPECT_TRUE(mentions(installed.error().message, "(PID " + std::to_string(keeper.process()) + ")"));
    ASSERT_REFUSED(impatient.remove({"enroot"}, {}, never_), Code::timeout);
    ASSERT_REFUSED(impatient.hold({"enroot"}, true, never_), Code::timeout);
    ASSERT_REFUSED(impatient.refresh({}, never_), Code::timeout);
    ASSERT_REFUSED(impatient.repair({}, never_), Code::timeout);
    EXPECT_EQ(database(), before);
    // To look, nobody has to wait.
    ASSERT_FINE(impatient.installed());
    ASSERT_FINE(impatient.preview({{deb({"jq", "1.0"})}, {}}, never_));
}

// Somebody takes the lock between our look and apt's: the runner's own start is that moment here.
class LateLock : public TaskRunner {
  public:
    LateLock(TaskRunner& inner, std::string path) : inner_(inner), path_(std::move(path)) {}
    Result<TaskResult> run(const Task& task, const std::stop_token& stop) override {
        if (++runs_ > 1) return inner_.run(task, stop);
        const LockKeeper keeper(path_);
        Task hasty = task;
        for (std::string& word : hasty.argv) {
            if (word.starts_with("DPkg::Lock::Timeout=")) word = "DPkg::Lock::Timeout=0";
        }
        return inner_.run(hasty, stop);
    }
    int runs_ = 0;

  private:
    TaskRunner& inner_;
    std::string path_;
};

TEST_F(DebLocked, TriesAgainWhenSomebodyWasFaster) {
    const std::string package = deb({"enroot", "1.0-1"});
    for (const char* lock : {"/var/lib/dpkg/lock-frontend", "/var/cache/apt/archives/lock"}) {
        LateLock late(runner_, root_ + lock);
        DebManager apt(late, {root_, std::chrono::seconds(60)}, "amd64");
        ASSERT_FINE(apt.install({{package}, {}}, {}, never_));
        EXPECT_EQ(late.runs_, 2);
        ASSERT_FINE(manager().remove({"enroot"}, {}, never_));
    }
}

TEST_F(DebLocked, StopsWaitingWhenTheHelperEnds) {
    const std::string package = deb({"enroot", "1.0-1"});
    const LockKeeper keeper(root_ + "/var/lib/dpkg/lock-frontend");
    std::stop_source stop;
    const Progress progress = [&](const std::string&) { stop.request_stop(); };
    ASSERT_REFUSED(manager().install({{package}, {}}, progress, stop.get_token()), Code::unavailable);
    EXPECT_EQ(version_of("enroot"), "");
}

}  // namespace
}  // namespace llmgw::packages
