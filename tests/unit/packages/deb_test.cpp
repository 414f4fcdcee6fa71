// What the adapter decides, with an apt and dpkg that only remember: what the real ones rarely do on demand.
#include "packages/deb.hpp"

#include "unit/packages/machine.hpp"

namespace llmgw::packages {
namespace {

using Words = std::vector<std::string>;

// A machine's packages, as far as the adapter asks and changes.
class FakeApt : public TaskRunner {
  public:
    Result<TaskResult> run(const Task& task, const std::stop_token& stop) override {
        if (stop.stop_requested()) return Error{Code::unavailable, "stopped"};
        units.push_back(task.unit);
        const std::string what = verb(task.argv);
        done.push_back(what);
        if (broken_runner) return Error{Code::timeout, "it took too long"};
        if (what == "update") {
            ++updates;
            index = index || repository;
            return TaskResult{repository ? 0 : 100,
                              repository ? "" : "E: Failed to fetch http://e.org/InRelease\n"};
        }
        if (what == "configure") {
            if (!repairable)
                return TaskResult{1, "dpkg: error processing package enroot (--configure):\n no way\n"};
            for (auto& [name, status] : statuses) status = "installed";
            return TaskResult{};
        }
        if (what == "install" && task.argv.back().starts_with("/")) {
            if (!install_output.empty()) return TaskResult{100, install_output};
            statuses["enroot"] = lies ? "config-files" : "installed";
        }
        return TaskResult{};
    }

    Result<Outcome> ask(const Command& command) {
        const std::string& program = command.argv[0];
        if (program == "/usr/bin/dpkg-query") {
            std::string text;
            for (const auto& [name, status] : statuses)
                text += name + "\tall\t1.0-1\tinstall\t" + status + "\tok\n";
            return Outcome{database ? 0 : 2, database ? text : "dpkg-query: error: parsing file\n"};
        }
        if (program == "/usr/bin/dpkg-deb")
            return Outcome{0, "Package: enroot\nVersion: 1.0-1\nArchitecture: all\n"};
        if (!index) return Outcome{100, " enroot : Depends: curl but it is not installable\n"};
        return Outcome{0, simulation};
    }

    DebManager manager() {
        return DebManager(*this, {place.path(), std::chrono::seconds(0)}, "amd64",
                          [this](const Command& command) { return ask(command); });
    }

    std::map<std::string, std::string> statuses;
    bool database = true, index = true, repository = true, repairable = true, lies = false,
         broken_runner = false;
    std::string simulation = "Inst enroot (1.0-1 local-deb [all])\n";
    std::string install_output;
    int updates = 0;
    Words done, units;
    test::TemporaryDirectory place;

  private:
    static std::string verb(const Words& argv) {
        for (const std::string& word : argv) {
            for (const char* known : {"update", "install", "purge", "hold", "unhold"}) {
                if (word == known) return word;
            }
            if (word == "--configure") return "configure";
        }
        return argv[0];
    }
};

const Wanted wanted{{"/cache/enroot.deb"}, {}};

TEST(DebManager, ReadsTheIndexOnceAndOnlyWhenItMust) {
    FakeApt machine;
    ASSERT_FINE(machine.manager().install(wanted, {}, {}));
    EXPECT_EQ(machine.done, Words{"install"});
    machine.index = false;
    machine.statuses.clear();
    ASSERT_FINE(machine.manager().install(wanted, {}, {}));
    EXPECT_EQ(machine.done, (Words{"install", "update", "install"}));
    for (const std::string& unit : machine.units) EXPECT_EQ(unit, "llmgw-slurm-packages");
}

TEST(DebManager, SaysAlsoThatTheIndexCanNotBeRead) {
    FakeApt machine;
    machine.index = machine.repository = false;
    const Result<void> failed = machine.manager().install(wanted, {}, {});
    ASSERT_REFUSED(failed, Code::missing);
    EXPECT_TRUE(mentions(failed.error().message, "Depends: curl")) << failed.error().message;
    EXPECT_TRUE(mentions(failed.error().message, "apt-get update: Failed to fetch"))
        << failed.error().message;
    EXPECT_EQ(machine.updates, 1);
}

TEST(DebManager, FetchesAgainWithAFreshIndexWhatIsGoneAndThenGivesUp) {
    FakeApt machine;
    machine.install_output = "E: Failed to fetch http://e.org/x.deb  404  Not Found\n";
    ASSERT_REFUSED(machine.manager().install(wanted, {}, {}), Code::missing);
    EXPECT_EQ(machine.done, (Words{"install", "update", "install"}));
}

TEST(DebManager, BelievesDpkgAndNotAptsExitCode) {
    FakeApt machine;
    machine.lies = true;
    const Result<void> failed = machine.manager().install(wanted, {}, {});
    ASSERT_REFUSED(failed, Code::internal);
    EXPECT_TRUE(mentions(failed.error().message, "enroot is not installed")) << failed.error().message;
}

TEST(DebManager, NamesWhatItCouldNotRepair) {
    FakeApt machine;
    machine.statuses["site"] = "half-configured";
    machine.repairable = false;
    const Result<void> failed = machine.manager().repair({}, {});
    ASSERT_REFUSED(failed, Code::internal);
    EXPECT_EQ(failed.error().message,
              "dpkg could not finish site (half-configured): dpkg: error processing package enroot "
              "(--configure): no way; "
              "see what is wrong with that package and run: dpkg --configure -a");
    // It may be in nobody's way.
    ASSERT_FINE(machine.manager().install(wanted, {}, {}));
    machine.install_output = "E: Something\n";
    const Result<void> both = machine.manager().install(wanted, {}, {});
    ASSERT_REFUSED(both, Code::internal);
    EXPECT_TRUE(mentions(both.error().message, "before that, dpkg could not finish site"))
        << both.error().message;
}

TEST(DebManager, DoesNothingForNothing) {
    FakeApt machine;
    machine.database = false;
    ASSERT_FINE(machine.manager().install({}, {}, {}));
    EXPECT_EQ(machine.manager().preview({}, {}).value(), Preview{});
    EXPECT_TRUE(machine.done.empty());
}

TEST(DebManager, PassesOnWhatTheRunnerAndTheDatabaseSay) {
    FakeApt machine;
    machine.broken_runner = true;
    const Result<void> late = machine.manager().install(wanted, {}, {});
    ASSERT_REFUSED(late, Code::timeout);
    EXPECT_TRUE(mentions(late.error().message, "it took too long"));
    machine.database = false;
    ASSERT_REFUSED(machine.manager().installed(), Code::internal);
    ASSERT_REFUSED(machine.manager().held(), Code::internal);
    ASSERT_REFUSED(machine.manager().remove({"enroot"}, {}, {}), Code::internal);
}

TEST(DebManager, StartsNothingMoreWhenTheHelperEnds) {
    FakeApt machine;
    std::stop_source stop;
    stop.request_stop();
    machine.index = false;
    ASSERT_REFUSED(machine.manager().install(wanted, {}, stop.get_token()), Code::unavailable);
    EXPECT_TRUE(machine.done.empty());
}

}  // namespace
}  // namespace llmgw::packages
