// With the real dpkg and apt, in a root of their own.
#include "unit/packages/deb_root.hpp"

namespace llmgw::packages {
namespace {

class DebInstall : public DebRoot {};

TEST_F(DebInstall, InstallsAPairThatNeedsEachOtherInOneTransaction) {
    const std::string tool = deb({"enroot", "4.2.1-1"});
    const std::string caps = deb({"enroot+caps", "4.2.1-1", "Depends: enroot (= 4.2.1-1)\n"});
    DebManager apt = manager();
    ASSERT_FINE(apt.install({{caps, tool}, {}}, watched_.progress, never_));
    EXPECT_EQ(version_of("enroot"), "4.2.1-1");
    EXPECT_EQ(version_of("enroot+caps"), "4.2.1-1");
    const std::string history = read(root_ + "/var/log/apt/history.log");
    EXPECT_EQ(history.find("Start-Date"), history.rfind("Start-Date")) << history;
    EXPECT_TRUE(mentions(watched_.sentences, "Setting up enroot+caps (4.2.1-1)"));
}

TEST_F(DebInstall, PreviewsAndChangesNothing) {
    offer({deb({"curl", "8.0"}), deb({"extra", "1.0"})});
    ASSERT_FINE(manager().install({{deb({"site", "1.0"})}, {}}, {}, never_));
    const std::string wanted =
        deb({"enroot", "4.2.1-1", "Depends: curl\nRecommends: extra\nConflicts: site\n"});
    const std::string before = database();
    const Result<Preview> preview = manager().preview({{wanted}, {}}, never_);
    ASSERT_FINE(preview);
    EXPECT_EQ(preview.value(), (Preview{{"curl", "enroot"}, {}, {"site"}}));
    EXPECT_EQ(database(), before);
}

TEST_F(DebInstall, AsksNobodyAboutAChangedConffile) {
    ASSERT_FINE(manager().install({{deb({"enroot", "1.0-1", "", "first\n"})}, {}}, {}, never_));
    write(root_ + "/etc/enroot.conf", "the admin's\n");
    ASSERT_FINE(manager().install({{deb({"enroot", "2.0-1", "", "second\n"})}, {}}, {}, never_));
    EXPECT_EQ(version_of("enroot"), "2.0-1");
    EXPECT_EQ(read(root_ + "/etc/enroot.conf"), "the admin's\n");
}

TEST_F(DebInstall, GivesScriptsAnEmptyInputAndSaysWhatMustNotBeAsked) {
    const std::string package =
        deb({"curious", "1.0", "", "", "read answer && echo $answer >/said\nexport >/environment\n"});
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    EXPECT_FALSE(there(root_ + "/said"));
    const std::string environment = read(root_ + "/environment");
    for (const char* expected : {"DEBIAN_FRONTEND='noninteractive'", "NEEDRESTART_SUSPEND='1'",
                                 "NEEDRESTART_MODE='l'", "APT_LISTCHANGES_FRONTEND='none'", "LC_ALL='C'"}) {
        EXPECT_TRUE(mentions(environment, expected)) << expected << " in " << environment;
    }
}

TEST_F(DebInstall, FinishesWhatAKilledDpkgLeft) {
    // Unpacked, and then dpkg is killed by the package's own script.
    const std::string package =
        deb({"enroot", "1.0-1", "", "", "test -e /once && exit 0\n: >/once\nkill -9 $PPID\nsleep 60\n"});
    const Result<void> killed = manager().install({{package}, {}}, {}, never_);
    ASSERT_REFUSED(killed, Code::internal);
    EXPECT_TRUE(mentions(manager().installed().value().broken, "enroot (half-configured)"));
    EXPECT_EQ(version_of("enroot"), "");

    const std::string other = deb({"curl", "8.0"});
    ASSERT_FINE(manager().install({{other}, {}}, watched_.progress, never_));
    EXPECT_EQ(version_of("enroot"), "1.0-1");
    EXPECT_EQ(version_of("curl"), "8.0");
    EXPECT_TRUE(mentions(watched_.sentences, "finishing what was interrupted: "));
}

TEST_F(DebInstall, SeesAJournalThatDpkgDidNotComeToApply) {
    write(root_ + "/var/lib/dpkg/updates/0001",
          "Package: enroot\nStatus: install ok unpacked\nVersion: 1.0-1\n"
          "Architecture: all\nMaintainer: n\nDescription: x\n");
    ASSERT_TRUE(mentions(manager().installed().value().broken, "dpkg (interrupted)"));
    ASSERT_FINE(manager().repair({}, never_));
    EXPECT_TRUE(manager().installed().value().broken.empty());
}

TEST_F(DebInstall, InstallsAgainWhatDpkgLostHalfOf) {
    const std::string package = deb({"enroot", "1.0-1"});
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    std::string status = read(root_ + "/var/lib/dpkg/status");
    status.replace(status.find("install ok installed"), 20, "install reinstreq half-installed");
    write(root_ + "/var/lib/dpkg/status", status);
    ASSERT_EQ(manager().installed().value().broken, (std::vector<std::string>{"enroot (half-installed)"}));
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    EXPECT_EQ(version_of("enroot"), "1.0-1");
}

TEST_F(DebInstall, NamesThePackageWhoseScriptFails) {
    const Result<void> failed =
        manager().install({{deb({"enroot", "1.0-1", "", "", "echo no >&2\nexit 3\n"})}, {}}, {}, never_);
    ASSERT_REFUSED(failed, Code::internal);
    EXPECT_TRUE(mentions(failed.error().message, "error processing package enroot"))
        << failed.error().message;
    EXPECT_TRUE(mentions(failed.error().message, "exit status 3")) << failed.error().message;
}

TEST_F(DebInstall, RefusesADamagedFileAndLeavesTheMachine) {
    const std::string good = deb({"curl", "8.0"});
    const std::string bad = deb({"enroot", "1.0-1", "", "", "", "all", 100000});
    const std::string before = database();
    const std::string whole = read(bad);
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{100}, std::size_t{0}}) {
        write(bad, whole.substr(0, size));
        const Result<void> refused = manager().install({{good, bad}, {}}, {}, never_);
        ASSERT_REFUSED(refused, Code::invalid);
        EXPECT_TRUE(mentions(refused.error().message, bad + " is damaged")) << refused.error().message;
    }
    EXPECT_EQ(database(), before);
}

TEST_F(DebInstall, RefusesAFileForAnotherMachineAndOneThatIsNotThere) {
    const bool intel = this_machine().architecture == Architecture::amd64;
    const std::string other = deb({"enroot", "1.0-1", "", "", "", intel ? "arm64" : "amd64"});
    const Result<void> foreign = manager().install({{other}, {}}, {}, never_);
    ASSERT_REFUSED(foreign, Code::invalid);
    EXPECT_TRUE(mentions(foreign.error().message, intel ? "is for \"arm64\"" : "is for \"amd64\""));
    ASSERT_REFUSED(manager().install({{place_.file("none.deb")}, {}}, {}, never_), Code::invalid);
    ASSERT_REFUSED(manager().install({{"relative.deb"}, {}}, {}, never_), Code::invalid);
}

TEST_F(DebInstall, RefusesToRemoveDowngradeOrTouchWhatIsHeld) {
    ASSERT_FINE(manager().install({{deb({"site", "1.0"}), deb({"enroot", "3.0-1"})}, {}}, {}, never_));
    const std::string before = database();
    const Result<void> removes =
        manager().install({{deb({"other", "1.0", "Conflicts: site\n"})}, {}}, {}, never_);
    ASSERT_REFUSED(removes, Code::conflict);
    EXPECT_TRUE(mentions(removes.error().message, "it would remove site")) << removes.error().message;
    const Result<void> older = manager().install({{deb({"enroot", "2.0-1"})}, {}}, {}, never_);
    ASSERT_REFUSED(older, Code::conflict);
    EXPECT_TRUE(mentions(older.error().message, "downgraded")) << older.error().message;
    EXPECT_EQ(database(), before);
    ASSERT_FINE(manager().hold({"enroot"}, true, never_));
    ASSERT_REFUSED(manager().install({{deb({"enroot", "4.0-1"})}, {}}, {}, never_), Code::conflict);
    EXPECT_EQ(version_of("enroot"), "3.0-1");
}

TEST_F(DebInstall, ReadsTheIndexWhenThereIsNone) {
    offer({deb({"curl", "8.0"})});
    const std::string package = deb({"enroot", "1.0-1", "Depends: curl\n"});
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    EXPECT_EQ(version_of("curl"), "8.0");
    offer({deb({"curl", "8.0"}), deb({"jq", "1.6"})});
    ASSERT_FINE(manager().install({{}, {"jq=1.6"}}, {}, never_));
    EXPECT_EQ(version_of("jq"), "1.6");
}

TEST_F(DebInstall, ReadsTheIndexAgainWhenItIsOld) {
    offer({deb({"curl", "8.0"})});
    ASSERT_FINE(manager().refresh({}, never_));
    offer({deb({"curl", "8.1"})});  // and 8.0 is gone
    ASSERT_FINE(manager().install({{}, {"curl"}}, {}, never_));
    EXPECT_EQ(version_of("curl"), "8.1");
}

TEST_F(DebInstall, SaysWhatCanNotBeFound) {
    offer({deb({"curl", "8.0"})});
    const Result<void> unknown = manager().install({{}, {"nosuch"}}, {}, never_);
    ASSERT_REFUSED(unknown, Code::missing);
    EXPECT_TRUE(mentions(unknown.error().message, "nosuch")) << unknown.error().message;
    const Result<void> needs =
        manager().install({{deb({"enroot", "1.0-1", "Depends: nosuch\n"})}, {}}, {}, never_);
    ASSERT_REFUSED(needs, Code::missing);
    EXPECT_TRUE(mentions(needs.error().message, "nosuch")) << needs.error().message;
    std::filesystem::remove_all(place_.file("repository"));
    const Result<void> gone = manager().refresh({}, never_);
    ASSERT_REFUSED(gone, Code::unavailable);
}

TEST_F(DebInstall, DoesNothingASecondTime) {
    const std::string package = deb({"enroot", "1.0-1"});
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    const std::string before = database();
    ASSERT_FINE(manager().install({{package}, {}}, {}, never_));
    ASSERT_FINE(manager().repair({}, never_));
    EXPECT_EQ(database(), before);
    EXPECT_EQ(manager().preview({{package}, {}}, never_).value(), Preview{});
}

}  // namespace
}  // namespace llmgw::packages
