// With the real rpm and dnf, in a root of their own, and a local repository.
#include "unit/packages/lock_keeper.hpp"
#include "unit/packages/rpm_root.hpp"

namespace llmgw::packages {
namespace {

using Versions = std::map<std::string, std::string>;

class RpmInstall : public RpmRoot {};

TEST_F(RpmInstall, PreviewsInstallsAndTakesBackAPairFromFiles) {
    offer({rpm({"parallel"})});
    const std::string tool = rpm({"enroot", "4.2.1", "parallel", "", "1.el8"});
    const std::string caps = rpm({"enroot+caps", "4.2.1", "enroot = 4.2.1-1.el8", "", "1.el8"});
    ASSERT_FINE(manager().install({{}, {"parallel"}}, {}, never_));
    ASSERT_FINE(manager().remove({"parallel"}, {}, never_));
    const std::string before = tree();
    const Wanted wanted{{caps, tool}, {}};

    const Result<Preview> preview = manager().preview(wanted, never_);
    ASSERT_FINE(preview);
    EXPECT_TRUE(mentions(preview.value().added, "parallel"));
    EXPECT_EQ(preview.value().added.size(), 3U);
    EXPECT_EQ(versions(), Versions{});

    ASSERT_FINE(manager().install(wanted, watched_.progress, never_));
    EXPECT_EQ(versions(),
              (Versions{{"enroot", "4.2.1-1.el8"}, {"enroot+caps", "4.2.1-1.el8"}, {"parallel", "1.0-1"}}));
    EXPECT_TRUE(mentions(watched_.sentences, "Installing enroot+caps-"))
        << ::testing::PrintToString(watched_.sentences);
    ASSERT_FINE(manager().install(wanted, {}, never_));
    EXPECT_EQ(manager().preview(wanted, never_).value(), Preview{});

    write(root_ + "/etc/enroot.conf", "changed\n");
    ASSERT_FINE(manager().remove({"enroot", "enroot+caps", "nosuch"}, {}, never_));
    EXPECT_EQ(versions(), (Versions{{"parallel", "1.0-1"}}));
    ASSERT_FINE(manager().remove({"parallel"}, {}, never_));
    EXPECT_EQ(tree(), before);
}

TEST_F(RpmInstall, RefusesADamagedFileAndLeavesTheMachine) {
    const std::string file = rpm({"enroot"});
    const std::string whole = read(file);
    std::string flipped = whole;
    flipped[flipped.size() - 20] = static_cast<char>(flipped[flipped.size() - 20] ^ 1);
    for (const std::string& bad :
         {whole.substr(0, whole.size() - 10), whole.substr(0, 1000), flipped, std::string()}) {
        write(file, bad);
        const Result<void> refused = manager().install({{file}, {}}, {}, never_);
        ASSERT_REFUSED(refused, Code::invalid);
        EXPECT_TRUE(mentions(refused.error().message, file + " is damaged")) << refused.error().message;
    }
    EXPECT_EQ(versions(), Versions{});
}

TEST_F(RpmInstall, RefusesToRemoveOrDowngrade) {
    const std::string old = rpm({"enroot", "1.0"});
    ASSERT_FINE(
        manager().install({{rpm({"enroot", "2.0"}), rpm({"site-tool", "1.0", "enroot"})}, {}}, {}, never_));
    const Result<void> removed = manager().remove({"enroot"}, {}, never_);
    ASSERT_REFUSED(removed, Code::conflict);
    EXPECT_TRUE(mentions(removed.error().message, "site-tool would go with it")) << removed.error().message;
    const Result<void> older = manager().install({{old}, {}}, {}, never_);
    ASSERT_REFUSED(older, Code::conflict);
    EXPECT_TRUE(mentions(older.error().message, "downgrade enroot")) << older.error().message;
    EXPECT_EQ(versions(), (Versions{{"enroot", "2.0-1"}, {"site-tool", "1.0-1"}}));
}

TEST_F(RpmInstall, FindsWhatAnOldIndexDoesNotKnowAndSaysWhatNobodyHas) {
    ASSERT_FINE(manager().refresh({}, never_));
    offer({rpm({"jq", "1.6"}), rpm({"jq", "1.7"})});
    ASSERT_FINE(manager().install({{}, {"jq=1.6-1"}}, {}, never_));
    EXPECT_EQ(versions(), (Versions{{"jq", "1.6-1"}}));
    const Result<std::vector<Offer>> offers = manager().offers("jq", never_);
    ASSERT_FINE(offers);
    EXPECT_EQ(offers.value(), (std::vector<Offer>{{"1.7-1", "jq", {}}, {"1.6-1", "jq", {}}}));
    EXPECT_TRUE(manager().offers("nosuch", never_).value().empty());
    const Result<void> unknown = manager().install({{}, {"nosuch"}}, {}, never_);
    ASSERT_REFUSED(unknown, Code::missing);
    EXPECT_TRUE(mentions(unknown.error().message, "nosuch")) << unknown.error().message;
}

TEST_F(RpmInstall, WaitsForTheHoldersOfItsLocksAndNamesThem) {
    const std::string package = rpm({"enroot"});
    ASSERT_FINE(manager().install({{rpm({"site"})}, {}}, {}, never_));
    const std::string rpm_lock = root_ + last_line(must_run({"/usr/bin/rpm", "--eval", "%{_rpmlock_path}"}));
    std::filesystem::create_directories(root_ + "/run/dnf");
    std::filesystem::create_directories(root_ + "/var/lib/dnf");
    const std::pair<std::string, LockKeeper::Kind> locks[] = {
        {rpm_lock, LockKeeper::Kind::fcntl},
        {root_ + "/run/dnf/rpmtransaction.lock", LockKeeper::Kind::fcntl},
        {root_ + "/var/lib/dnf/rpmdb_lock.pid", LockKeeper::Kind::pid_file}};
    for (const auto& [path, kind] : locks) {
        LockKeeper keeper(path, kind);
        ASSERT_TRUE(keeper.holds()) << path;
        const std::string who = "(PID " + std::to_string(keeper.process()) + "), which holds " + path;
        bool named = false;
        const Progress progress = [&](const std::string& sentence) {
            named = named || mentions(sentence, who);
            if (named) keeper.let_go();
        };
        ASSERT_FINE(manager().repair(progress, never_));
        EXPECT_TRUE(named) << path;
    }
    const LockKeeper keeper(rpm_lock);
    ASSERT_REFUSED(manager(std::chrono::seconds(0)).install({{package}, {}}, {}, never_), Code::timeout);
    EXPECT_EQ(versions(), (Versions{{"site", "1.0-1"}}));
}

// Somebody takes the lock between our look and rpm's: before its transaction, dnf asks.
class LateLock : public TaskRunner {
  public:
    LateLock(TaskRunner& inner, std::string path) : inner_(inner), path_(std::move(path)) {}
    Result<TaskResult> run(const Task& task, const std::stop_token& stop) override {
        const bool transaction = std::find(task.argv.begin(), task.argv.end(), "-y") != task.argv.end();
        if (!transaction || ++runs_ > 1) return inner_.run(task, stop);
        const LockKeeper keeper(path_);
        return inner_.run(task, stop);
    }
    int runs_ = 0;

  private:
    TaskRunner& inner_;
    std::string path_;
};

TEST_F(RpmInstall, TriesAgainWhenSomebodyWasFaster) {
    ASSERT_FINE(manager().install({{rpm({"site"})}, {}}, {}, never_));
    LateLock late(runner_, root_ + last_line(must_run({"/usr/bin/rpm", "--eval", "%{_rpmlock_path}"})));
    RpmManager dnf(late, {root_, std::chrono::seconds(60)}, find_dnf().value(), "x86_64");
    ASSERT_FINE(dnf.install({{rpm({"enroot"})}, {}}, {}, never_));
    EXPECT_EQ(late.runs_, 2);
    EXPECT_EQ(versions(), (Versions{{"enroot", "1.0-1"}, {"site", "1.0-1"}}));
}

TEST_F(RpmInstall, RemovesTheOlderOfTwoThatAnInterruptedUpgradeLeft) {
    ASSERT_FINE(manager().install({{rpm({"enroot", "1.0"})}, {}}, {}, never_));
    must_run({"/usr/bin/rpm", "--root", root_, "-i", "--force", rpm({"enroot", "2.0"})});
    EXPECT_EQ(manager().installed().value().broken,
              (std::vector<std::string>{"enroot (1.0-1 beside another version)"}));
    ASSERT_FINE(manager().repair(watched_.progress, never_));
    EXPECT_EQ(manager().installed().value(), (Installed{{{"enroot", "2.0-1"}}, {}}));
    EXPECT_EQ(read(root_ + "/usr/share/enroot/version"), "2.0\n");
}

TEST_F(RpmInstall, HoldsWithTheVersionlockPlugin) {
    with_versionlock_plugin();
    offer({rpm({"enroot", "1.0"})});
    ASSERT_FINE(manager().install({{}, {"enroot"}}, {}, never_));
    ASSERT_FINE(manager().hold({"enroot"}, true, never_));
    EXPECT_EQ(manager().held().value(), (std::vector<std::string>{"enroot"}));
    offer({rpm({"enroot", "2.0"})});
    ASSERT_REFUSED(manager().install({{}, {"enroot=2.0-1"}}, {}, never_), Code::conflict);
    ASSERT_REFUSED(manager().remove({"enroot"}, {}, never_), Code::conflict);
    ASSERT_FINE(manager().hold({"enroot"}, false, never_));
    EXPECT_EQ(manager().held().value(), std::vector<std::string>{});
    ASSERT_FINE(manager().install({{}, {"enroot=2.0-1"}}, {}, never_));
}

TEST_F(RpmInstall, HoldsByOurOwnRepositoryFileWhereThereIsNoPlugin) {
    if (find_dnf().value().five) GTEST_SKIP() << "dnf5 has versionlock built in";
    offer({rpm({"enroot", "1.0"})});
    ASSERT_FINE(manager().install({{}, {"enroot"}}, {}, never_));
    ASSERT_REFUSED(manager().hold({"enroot"}, true, never_), Code::missing);
    const std::string ours = root_ + "/etc/yum.repos.d/llmgw-test.repo";
    std::filesystem::rename(root_ + "/etc/yum.repos.d/site.repo", ours);
    const std::string before = read(ours);
    ASSERT_FINE(manager().hold({"enroot"}, true, never_));
    EXPECT_EQ(manager().held().value(), (std::vector<std::string>{"enroot"}));
    offer({rpm({"enroot", "2.0"})});
    ASSERT_REFUSED(manager().install({{}, {"enroot=2.0-1"}}, {}, never_), Code::conflict);
    ASSERT_FINE(manager().hold({"enroot"}, false, never_));
    EXPECT_EQ(read(ours), before);
}

}  // namespace
}  // namespace llmgw::packages
