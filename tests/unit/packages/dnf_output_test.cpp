// Texts of dnf 4.14 and dnf5 5.4, where nothing else is said.
#include "packages/dnf_output.hpp"

#include <gtest/gtest.h>

namespace llmgw::packages::dnf {
namespace {

using Words = std::vector<std::string>;

TEST(RpmVersions, AreOrderedAsRpmOrdersThem) {
    const std::pair<const char*, const char*> rising[] = {
        {"1.0-1", "1.0-2"},       {"1.9-1", "1.10-1"},    {"1.0-9", "1.1-1"},   {"2.0-1", "1:1.0-1"},
        {"1.0~rc1-1", "1.0-1"},   {"1.0-1", "1.0^git-1"}, {"1.0a-1", "1.0b-1"}, {"1.0-1.el8", "1.0-1.el9"},
        {"1.17.8-1", "1.17.8-2"}, {"1.a-1", "1.1-1"},     {"1.0-1", "1.0.1-1"}, {"09.1-1", "10-1"},
        {"1.0^git-1", "1.0.1-1"},
    };
    for (const auto& [older, newer] : rising) {
        EXPECT_LT(compare_versions(older, newer), 0) << older << " " << newer;
        EXPECT_GT(compare_versions(newer, older), 0) << older << " " << newer;
        EXPECT_EQ(compare_versions(older, older), 0) << older;
    }
    EXPECT_EQ(compare_versions("1.01-1", "1.1-1"), 0);
    EXPECT_EQ(compare_versions("0:1-1", "1-1"), 0);
    EXPECT_EQ(compare_versions("", ""), 0);
}

TEST(RpmPackages, AreReadAndThoseLeftBehindSeen) {
    const std::vector<Package> packages = parse_packages(
        "enroot\t0:4.2.0-1\tx86_64\nenroot\t0:4.2.1-1\tx86_64\njq\t1:1.6-1\tx86_64\n"
        "kernel\t0:5.1-1\tx86_64\nkernel\t0:5.2-1\tx86_64\nglibc\t0:2-1\tx86_64\nglibc\t0:2-1\ti686\n"
        "gpg-pubkey\t0:1-1\t(none)\ngpg-pubkey\t0:2-1\t(none)\nwarning: something\n");
    ASSERT_EQ(packages.size(), 9U);
    EXPECT_EQ(packages[2], (Package{"jq", "1:1.6-1", "x86_64"}));
    EXPECT_EQ(packages[2].full_name(), "jq-1.6-1.x86_64");
    EXPECT_EQ(left_behind(packages), (std::vector<Package>{{"enroot", "4.2.0-1", "x86_64"}}));
    const Installed installed = installed_of(packages);
    EXPECT_EQ(installed.broken, Words{"enroot (4.2.0-1 beside another version)"});
    EXPECT_FALSE(installed.versions.contains("enroot"));
    EXPECT_EQ(installed.versions.at("jq"), "1:1.6-1");
}

TEST(DnfTable, Of4SaysWhatComesChangesAndGoes) {
    const std::optional<Table> table = parse_table(
        "Last metadata expiration check: 0:00:02 ago on Mon Jan  5 14:30:26 2026.\nDependencies resolved.\n"
        "================\n Package   Architecture  Version  Repository  "
        "Size\n================\nInstalling:\n"
        " enroot             x86_64        4.2.1-1.el8         @commandline        6.3 k\nUpgrading:\n"
        " glibc              x86_64        2-2                 base                6.3 k\nDowngrading:\n"
        " jq                 x86_64        1-1                 base                6.3 k\n"
        "Installing dependencies:\n helper-lib         x86_64        1.0-1               local               "
        "6.2 k\n"
        "     replacing  old.x86_64 1\nRemoving dependent packages:\n"
        " site-tool          x86_64        1-1                 @local                4 \n\nTransaction "
        "Summary\n"
        "================\nInstall  3 Packages\n\nTotal size: 19 k\n Installed size: 32  \nOperation "
        "aborted.\n");
    ASSERT_TRUE(table);
    EXPECT_EQ(table->preview, (Preview{{"enroot", "helper-lib"}, {"glibc", "jq"}, {"site-tool"}}));
    EXPECT_EQ(table->downgraded, Words{"jq"});
}

TEST(DnfTable, Of5SaysWhatComesChangesAndGoes) {
    const std::optional<Table> table = parse_table(
        "Updating and loading repositories:\n local                                  100% | 148.9 KiB/s |   "
        "2.2 KiB |\n"
        "Repositories loaded.\nPackage                 Arch   Version Repository      Size\nDowngrading:\n"
        " helper-lib             x86_64 0:1.0-1 local        8.0   B\n"
        "   replacing helper-lib x86_64 0:2.0-1 local        8.0   B\nInstalling:\n"
        " enroot      x86_64 0:4.2.1-1.el8 @commandline  12.0   B\n\nTransaction Summary:\n"
        " Replacing:          1 package\n Installing:         3 packages\n\nOperation aborted by the "
        "user.\n");
    ASSERT_TRUE(table);
    EXPECT_EQ(table->preview, (Preview{{"enroot"}, {"helper-lib"}, {}}));
    EXPECT_EQ(table->downgraded, Words{"helper-lib"});
}

TEST(DnfTable, IsEmptyWhenThereIsNothingToDoAndNoneWhenItFailed) {
    EXPECT_EQ(
        parse_table("Package jq is already installed.\nDependencies resolved.\nNothing to do.\nComplete!\n"),
        Table{});
    EXPECT_EQ(parse_table("Error: Unable to find a match: nosuch\n"), std::nullopt);
    EXPECT_EQ(parse_table(""), std::nullopt);
}

TEST(DnfOffers, AreNewestFirstWithWhatTheyNeed) {
    const std::vector<Offer> offers = parse_offers(
        "Unable to detect release version (use '--releasever' to specify release version)\n"
        "libnvidia-container-tools\t0:1.17.8-1\tlibnvidia-container-1.17.8-1.src.rpm\n"
        "libnvidia-container-tools\t0:1.17.10-1\tlibnvidia-container-1.17.10-1.src.rpm\n"
        "libnvidia-container-tools\t0:1.17.10-1\tlibnvidia-container-1.17.10-1.src.rpm\n",
        "Last metadata expiration check: 0:00:02 ago\n/bin/sh\nlibc.so.6()(64bit)\nlibcap\n"
        "libnvidia-container1(x86-64) >= 1.17.8-1\nlibnvidia-container1(x86-64) >= 1.17.10-1\n"
        "rpmlib(CompressedFileNames) <= 3.0.4-1\n");
    const Words needs{"libcap", "libnvidia-container1"};
    EXPECT_EQ(offers, (std::vector<Offer>{{"1.17.10-1", "libnvidia-container", needs},
                                          {"1.17.8-1", "libnvidia-container", needs}}));
    EXPECT_TRUE(parse_offers("", "").empty());
}

TEST(DnfLocks, AreReadFromBothFiles) {
    EXPECT_EQ(
        parse_locks(
            "# Added lock on Mon Jan  5 14:35:31 2026\nhelper-lib-0:1.0-1.*\nenroot+caps-4.2.1-1.el8.*\n"
            "!bad-0:1-1.*\n\nhelper-lib-0:2.0-1.*\n"),
        (Words{"helper-lib", "enroot+caps"}));
    EXPECT_EQ(
        parse_toml_locks("version = \"1.0\"\n\n[[packages]]\nname = \"helper-lib\"\n[[packages.conditions]]\n"
                         "key = \"evr\"\ncomparator = \"=\"\nvalue = \"1.0-1\"\n[[packages]]\nname = 'jq'\n"),
        (Words{"helper-lib", "jq"}));
    EXPECT_TRUE(parse_toml_locks("packages = []\nversion = \"1.0\"\n").empty());
}

struct Case {
    const char* output;
    Trouble trouble;
    const char* reason;
};

TEST(DnfFailures, AreNamedByTheLineThatSaysWhy) {
    const Case cases[] = {
        {"Running transaction\nRPM: error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource "
         "temporarily unavailable)\nError: Could not run transaction.\n",
         Trouble::locked,
         "can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)"},
        {"RPMDB already locked by 4711\n", Trouble::locked, "RPMDB already locked by 4711"},
        {"Failed to obtain rpm transaction lock. Another transaction is in progress.\n", Trouble::locked,
         "Failed to obtain rpm transaction lock. Another transaction is in progress."},
        {"No match for argument: nosuch\nError: Unable to find a match: nosuch\n", Trouble::index,
         "Unable to find a match: nosuch"},
        {"Failed to resolve the transaction:\nNo match for argument: nosuch\n", Trouble::index,
         "No match for argument: nosuch"},
        {"Error: \n Problem: conflicting requests\n  - nothing provides jq needed by enroot-4.2.1-1.x86_64\n",
         Trouble::index, "nothing provides jq needed by enroot-4.2.1-1.x86_64"},
        {"Error: \n Problem: cannot install both enroot-4.3-1.x86_64 and enroot-4.2.1-1.x86_64\n  - "
         "conflicting "
         "requests\n",
         Trouble::conflict, "Problem: cannot install both enroot-4.3-1.x86_64 and enroot-4.2.1-1.x86_64"},
        {"All matches were filtered out by exclude filtering for argument: jq\nError: Unable to find a "
         "match: jq\n",
         Trouble::conflict, "All matches were filtered out by exclude filtering for argument: jq"},
        {"Argument 'jq-2' matches only packages excluded by versionlock.\n", Trouble::conflict,
         "Argument 'jq-2' matches only packages excluded by versionlock."},
        {"Can not load RPM file: /x.rpm.\nCould not open: /x.rpm\n", Trouble::damaged,
         "Can not load RPM file: /x.rpm."},
        {"Error: At least 12MB more space needed on the / filesystem.\n", Trouble::space,
         "At least 12MB more space needed on the / filesystem."},
        {"Error: Failed to download metadata for repo 'x': Cannot prepare internal mirrorlist: Curl error "
         "(6)\n",
         Trouble::network,
         "Failed to download metadata for repo 'x': Cannot prepare internal mirrorlist: Curl error (6)"},
        {"anything\n", Trouble::other, "anything"},
        {"", Trouble::other, ""},
    };
    for (const Case& expected : cases) {
        EXPECT_EQ(failure_of(expected.output).reason, expected.reason);
        EXPECT_EQ(failure_of(expected.output).trouble, expected.trouble) << expected.output;
    }
    EXPECT_TRUE(may_be_locked("Running transaction\nTransaction failed: Rpm transaction failed.\n"));
    const std::string script =
        ">>> Error in %pre scriptlet: bad-0:1-1.noarch\n>>> [RPM] lua script failed\nTransaction failed: Rpm "
        "transaction failed.\nWarning: skipped OpenPGP checks for 1 package from repository: @commandline\n";
    EXPECT_FALSE(may_be_locked(script));
    EXPECT_EQ(failure_of(script).reason, "Error in %pre scriptlet: bad-0:1-1.noarch");
}

TEST(DnfProgress, IsWhatPeopleWantToSee) {
    EXPECT_EQ(progress_of("  Installing       : enroot-4.2.1-1.el8.x86_64                              2/3 "),
              "Installing enroot-4.2.1-1.el8.x86_64");
    EXPECT_EQ(progress_of("[4/5] Installing enroot-0:4.2.1-1.el8.x 100% |   6.5 KiB/s | 100.0   B |  00m00s"),
              "Installing enroot-0:4.2.1-1.el8.x");
    EXPECT_EQ(progress_of("Installing dependencies:"), "");
    EXPECT_EQ(progress_of("Installing:"), "");
    EXPECT_EQ(progress_of("Dependencies resolved."), "");
}

}  // namespace
}  // namespace llmgw::packages::dnf
