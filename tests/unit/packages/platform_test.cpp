#include "packages/platform.hpp"

#include "unit/packages/machine.hpp"

namespace llmgw::packages {
namespace {

constexpr const char* ubuntu =
    "PRETTY_NAME=\"Ubuntu 24.04.2 LTS\"\nNAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n";
constexpr const char* rocky =
    "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.4\"\n";

TEST(PlatformOf, KnowsBothFamiliesAndArchitectures) {
    EXPECT_EQ(platform_of({ubuntu, "x86_64", true, false}).value(),
              (Platform{Family::deb, Architecture::amd64}));
    EXPECT_EQ(platform_of({ubuntu, "aarch64", true, false}).value(),
              (Platform{Family::deb, Architecture::arm64}));
    EXPECT_EQ(platform_of({rocky, "x86_64", false, true}).value(),
              (Platform{Family::rpm, Architecture::amd64}));
    EXPECT_EQ(platform_of({"ID=debian\n", "arm64", true, false}).value(),
              (Platform{Family::deb, Architecture::arm64}));
    EXPECT_EQ(platform_of({"ID=dgx\nID_LIKE='ubuntu debian'\n", "amd64", true, false}).value().family,
              Family::deb);
    EXPECT_EQ(platform_of({"ID=fedora\n", "x86_64", false, true}).value().family, Family::rpm);
}

TEST(PlatformOf, IsDecidedByTheSystemAndNotByProgramsThatLieAround) {
    EXPECT_EQ(platform_of({ubuntu, "x86_64", true, true}).value().family, Family::deb);
    EXPECT_EQ(platform_of({rocky, "x86_64", true, true}).value().family, Family::rpm);
}

TEST(PlatformOf, NamesWhatWasFound) {
    const auto message = [](const PlatformFacts& facts) {
        const Result<Platform> platform = platform_of(facts);
        EXPECT_FALSE(platform.ok());
        EXPECT_EQ(platform.error().code, Code::invalid);
        return platform.ok() ? "" : platform.error().message;
    };
    EXPECT_EQ(message({"ID=arch\n", "x86_64", true, true}),
              "this machine is \"arch\", and there are packages only for systems like Debian and like RHEL");
    EXPECT_EQ(message({"ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n", "x86_64", false, true}),
              "this machine is \"opensuse-leap\" (like \"suse opensuse\"), and there are packages only for "
              "systems like "
              "Debian and like RHEL");
    EXPECT_EQ(message({"", "x86_64", true, true}),
              "this machine is a system whose /etc/os-release has no ID, and there are packages only for "
              "systems like "
              "Debian and like RHEL");
    EXPECT_EQ(message({ubuntu, "x86_64", false, false}),
              "this machine is \"ubuntu\", but dpkg-query or apt-get is not installed");
    EXPECT_EQ(message({rocky, "x86_64", true, false}),
              "this machine is \"rocky\", but rpm or dnf is not installed");
    EXPECT_EQ(message({ubuntu, "riscv64", true, false}),
              "this machine is a \"riscv64\", and there are packages only for amd64 and arm64");
}

TEST(OsReleaseValue, UnderstandsQuotesAndOnlyWholeKeys) {
    EXPECT_EQ(os_release_value("ID=debian\n", "ID"), "debian");
    EXPECT_EQ(os_release_value("VERSION_ID=\"12\"\nID='x'\n", "ID"), "x");
    EXPECT_EQ(os_release_value("ID_LIKE=debian\n", "ID"), "");
    EXPECT_EQ(os_release_value("", "ID"), "");
    EXPECT_EQ(os_release_value("ID=\n", "ID"), "");
    EXPECT_EQ(os_release_value("ID=\"\n", "ID"), "\"");
}

TEST(GatherPlatform, ReadsARootAndFallsBack) {
    const test::TemporaryDirectory root;
    EXPECT_EQ(gather_platform(root.path()).os_release, "");
    write(root.file("usr/lib/os-release"), "ID=fallback\n");
    EXPECT_EQ(gather_platform(root.path()).os_release, "ID=fallback\n");
    write(root.file("etc/os-release"), "ID=own\n");
    EXPECT_EQ(gather_platform(root.path()).os_release, "ID=own\n");
    EXPECT_FALSE(gather_platform(root.path()).machine.empty());
}

TEST(ManagerFor, IsTheFamilysOwn) {
    ChildRunner runner;
    const Result<std::unique_ptr<Manager>> apt = manager_for(Family::deb, runner, {"/some/root//", {}});
    ASSERT_FINE(apt);
    EXPECT_EQ(apt.value()->family(), Family::deb);
    const Result<std::unique_ptr<Manager>> dnf = manager_for(Family::rpm, runner);
    EXPECT_EQ(dnf.ok(), find_dnf().ok());
    if (dnf.ok()) {
        EXPECT_EQ(dnf.value()->family(), Family::rpm);
    }
}

}  // namespace
}  // namespace llmgw::packages
