// Texts of apt 2.6 and dpkg 1.21, where nothing else is said.
#include "packages/apt_output.hpp"

#include <gtest/gtest.h>

namespace llmgw::packages::apt {
namespace {

using Words = std::vector<std::string>;

TEST(DpkgStates, AreReadForEachPackage) {
    const std::vector<State> states = parse_states(
        "adduser\tall\t3.134\tinstall\tinstalled\tok\n"
        "libc6\tamd64\t2.36-9\tinstall\tinstalled\tok\n"
        "libc6\ti386\t2.36-9\tinstall\tinstalled\tok\n"
        "enroot\tamd64\t4.2.1-1\thold\tinstalled\tok\n"
        "gone\tamd64\t\tdeinstall\tnot-installed\tok\n"
        "left\tamd64\t1.0\tdeinstall\tconfig-files\tok\n"
        "half\tamd64\t1.0\tinstall\thalf-installed\treinstreq\n"
        "not a line\n",
        "amd64");
    ASSERT_EQ(states.size(), 7U);
    EXPECT_EQ(states[2].name, "libc6:i386");
    EXPECT_TRUE(states[3].held());
    EXPECT_FALSE(states[4].there());
    EXPECT_TRUE(states[5].there());
    EXPECT_TRUE(states[6].damaged);
    EXPECT_EQ(held_of(states), Words{"enroot"});
    EXPECT_EQ(find_state(states, "libc6")->version, "2.36-9");
    EXPECT_EQ(find_state(states, "nosuch"), nullptr);
}

TEST(DpkgStates, TellWhatIsWholeFromWhatIsNot) {
    std::vector<State> states;
    for (const char* status : {"not-installed", "config-files", "half-installed", "unpacked",
                               "half-configured", "triggers-awaited", "triggers-pending", "installed"}) {
        states.push_back({status, "1", "install", status, false});
    }
    states.push_back({"damaged", "1", "install", "installed", true});
    EXPECT_EQ(installed_of(states, false),
              (Installed{{{"installed", "1"}, {"triggers-pending", "1"}},
                         {"half-installed (half-installed)", "unpacked (unpacked)",
                          "half-configured (half-configured)", "triggers-awaited (triggers-awaited)",
                          "damaged (installed)"}}));
    EXPECT_EQ(installed_of({}, true).broken, Words{"dpkg (interrupted)"});
}

TEST(AptSimulation, SaysWhatComesChangesAndGoes) {
    EXPECT_EQ(parse_simulation("Reading package lists...\n"
                               "The following NEW packages will be installed:\n  curl enroot\n"
                               "Remv site [1.0]\n"
                               "Purg other [2.0]\n"
                               "Inst curl (8.0 Debian:12.11/stable [amd64])\n"
                               "Inst libc6 [2.36-9] (2.36-10 Debian:12.11/stable [amd64]) []\n"
                               "Inst enroot (4.2.1-1 local-deb [amd64])\n"
                               "Conf curl (8.0 Debian:12.11/stable [amd64])\n"
                               "Conf enroot (4.2.1-1 local-deb [amd64])\n"),
              (Preview{{"curl", "enroot"}, {"libc6"}, {"site", "other"}}));
    EXPECT_EQ(parse_simulation("0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n"),
              Preview{});
}

TEST(DebFields, AreAllThere) {
    EXPECT_EQ(parse_fields("Package: enroot+caps\nVersion: 4.2.1-1\nArchitecture: amd64\n"),
              (PackageFile{"enroot+caps", "4.2.1-1", "amd64"}));
    EXPECT_EQ(parse_fields("Package: enroot\nVersion: 1\n"), std::nullopt);
    EXPECT_EQ(parse_fields("dpkg-deb: error: 'x' is not a Debian format archive\n"), std::nullopt);
}

TEST(AptOffers, HaveVersionSourceAndNeeds) {
    const std::vector<Offer> offers = parse_offers(
        "Package: libnvidia-container-tools\nSource: libnvidia-container\nVersion: 1.17.8-1\n"
        "Depends: libnvidia-container1 (>= 1.17.8-1), libc6 (>= 2.27) | libc6.1, libcap2:any\n"
        "Pre-Depends: dpkg\nDescription: x\n Depends: in the text\n\n"
        "Package: libnvidia-container-tools\nVersion: 1.17.7-1\n\n"
        "Package: libnvidia-container-tools\nVersion: 1.17.8-1\n\n");
    ASSERT_EQ(offers.size(), 2U);
    EXPECT_EQ(
        offers[0],
        (Offer{"1.17.8-1", "libnvidia-container", {"libnvidia-container1", "libc6", "libcap2", "dpkg"}}));
    EXPECT_EQ(offers[1], (Offer{"1.17.7-1", "libnvidia-container-tools", {}}));
    EXPECT_TRUE(parse_offers("").empty());
}

struct Case {
    const char* output;
    Failure failure;
};

TEST(AptFailures, AreNamedByTheLineThatSaysWhy) {
    const Case cases[] = {
        {"Reading package lists...\nE: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process "
         "4711 "
         "(unattended-upgr)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is "
         "another "
         "process using it?\n",
         {Trouble::locked,
          "Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 "
          "(unattended-upgr)"}},
        {"dpkg: error: dpkg frontend lock was locked by another process with pid 99\nNote: removing the lock "
         "file is "
         "always wrong\n",
         {Trouble::locked, "dpkg: error: dpkg frontend lock was locked by another process with pid 99"}},
        {"Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 "
         "(apt)...\n"
         "E: Unable to locate package nosuch\n",
         {Trouble::index, "Unable to locate package nosuch"}},
        {"Some packages could not be installed.\nThe following packages have unmet dependencies:\n enroot : "
         "Depends: "
         "nosuch but it is not installable\nE: Unable to correct problems, you have held broken packages.\n",
         {Trouble::index, "enroot : Depends: nosuch but it is not installable"}},
        {"Err:1 http://deb.debian.org/debian bookworm/main amd64 jq amd64 1.6\n  404  Not Found [IP: 1.2.3.4 "
         "80]\n"
         "E: Failed to fetch http://deb.debian.org/debian/pool/jq.deb  404  Not Found [IP: 1.2.3.4 80]\n"
         "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?\n",
         {Trouble::index, "404  Not Found [IP: 1.2.3.4 80]"}},
        {"E: Packages were downgraded and -y was used without --allow-downgrades.\n",
         {Trouble::conflict, "Packages were downgraded and -y was used without --allow-downgrades."}},
        {"E: Held packages were changed and -y was used without --allow-change-held-packages.\n",
         {Trouble::conflict,
          "Held packages were changed and -y was used without --allow-change-held-packages."}},
        {"Setting up enroot (1.0-1) ...\ndpkg: error processing package enroot (--configure):\n installed "
         "enroot "
         "package post-installation script subprocess returned error exit status 3\nErrors were encountered "
         "while "
         "processing:\n enroot\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
         {Trouble::other,
          "dpkg: error processing package enroot (--configure): installed enroot package "
          "post-installation script subprocess returned error exit status 3"}},
        {"dpkg: error processing archive /x.deb (--unpack):\n cannot copy extracted data: failed to write "
         "(No space "
         "left on device)\n",
         {Trouble::space, "cannot copy extracted data: failed to write (No space left on device)"}},
        {"E: You don't have enough free space in /var/cache/apt/archives/.\n",
         {Trouble::space, "You don't have enough free space in /var/cache/apt/archives/."}},
        {"W: Failed to fetch https://e.org/InRelease  Temporary failure resolving 'e.org'\n",
         {Trouble::network, "Failed to fetch https://e.org/InRelease  Temporary failure resolving 'e.org'"}},
        {"W: GPG error: https://e.org  InRelease: The following signatures couldn't be verified because the "
         "public key "
         "is not available: NO_PUBKEY DDCAE044F796ECB0\nE: The repository 'https://e.org  InRelease' is not "
         "signed.\n",
         {Trouble::other,
          "GPG error: https://e.org  InRelease: The following signatures couldn't be verified because "
          "the public key is not available: NO_PUBKEY DDCAE044F796ECB0"}},
        {"N: Ignoring file 'x' in directory '/etc/apt/sources.list.d/'\nE: Something new\nW: more\n",
         {Trouble::other, "Something new"}},
        {"just this\n\n", {Trouble::other, "just this"}},
        {"", {Trouble::other, ""}},
    };
    for (const Case& expected : cases) EXPECT_EQ(failure_of(expected.output).reason, expected.failure.reason);
    for (const Case& expected : cases)
        EXPECT_EQ(failure_of(expected.output).trouble, expected.failure.trouble);
}

TEST(AptFailures, OfApt31sSolverAreUnderstoodToo) {
    const Failure failure = failure_of(
        "Solving dependencies...\nThe following packages have unmet dependencies:\nE: Unable to satisfy "
        "dependencies. "
        "Reached two conflicting assignments:\n   1. enroot:amd64=1.0 is selected for install\n   2. "
        "enroot:amd64 "
        "Depends nosuch\n      but none of the choices are installable:\n      [no choices]\n");
    EXPECT_EQ(failure.trouble, Trouble::index);
}

TEST(AptFailures, OfAScriptThatCouldNotLockSomethingAreNoLockOfApts) {
    EXPECT_FALSE(says_locked(
        "Could not get lock /var/lib/thing\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n"));
    EXPECT_TRUE(
        says_locked("E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt)\n"));
}

TEST(AptProgress, IsWhatPeopleWantToSee) {
    EXPECT_EQ(progress_of("Setting up enroot (4.2.1-1) ..."), "Setting up enroot (4.2.1-1)");
    EXPECT_EQ(
        progress_of("Waiting for cache lock: Could not get lock /l. It is held by process 1 (apt)... 1s"),
        "Waiting for cache lock: Could not get lock /l. It is held by process 1 (apt)... 1s");
    EXPECT_EQ(progress_of("Reading package lists..."), "");
    EXPECT_EQ(progress_of("Unpacking \x1b[31mred ..."), "Unpacking ?[31mred");
}

TEST(PackageErrors, HaveACodeAndSayWhatToDo) {
    const auto error = [](Trouble trouble) { return error_of({trouble, "why"}, "cannot install x"); };
    EXPECT_EQ(error(Trouble::locked).code, Code::timeout);
    EXPECT_EQ(error(Trouble::index).code, Code::missing);
    EXPECT_EQ(error(Trouble::damaged).message,
              "cannot install x: why; the package file must be fetched again");
    EXPECT_EQ(error(Trouble::conflict).code, Code::conflict);
    EXPECT_EQ(error(Trouble::space).message, "cannot install x: why; make room and try again");
    EXPECT_EQ(error(Trouble::network).code, Code::unavailable);
    EXPECT_EQ(error(Trouble::other), (Error{Code::internal, "cannot install x: why"}));
}

}  // namespace
}  // namespace llmgw::packages::apt
