#include "service/releases.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

constexpr const char* ours = LLMGW_SOURCE_DIR "/conf/releases.json";

// An admin's directory, and the installed copy beside it.
class ReleasesFiles : public testing::Test {
  protected:
    ReleasesFiles() {
        std::filesystem::create_directory(directory_.file("etc"));
        ::chmod(directory_.file("etc").c_str(), 0755);
        std::filesystem::copy_file(ours, installed_);
    }
    void admin_has(const std::string& version, mode_t mode = 0644) const {
        std::ifstream stream(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/releases/small.json");
        std::string text{std::istreambuf_iterator<char>(stream), {}};
        const std::string from = R"("pyxis":{"version":"1")";
        text.replace(text.find(from), from.size(), R"("pyxis":{"version":")" + version + "\"");
        std::ofstream(admins_) << text;
        ::chmod(admins_.c_str(), mode);
    }
    [[nodiscard]] Result<ReleasesInForce> in_force() const { return releases_in_force(admins_, installed_); }
    void expect_denied(const std::string& because) const {
        const Result<ReleasesInForce> chosen = in_force();
        ASSERT_FALSE(chosen.ok()) << because;
        EXPECT_EQ(chosen.error().code, Code::denied) << chosen.error().message;
        EXPECT_NE(chosen.error().message.find(because), std::string::npos) << chosen.error().message;
        EXPECT_NE(chosen.error().message.find(admins_), std::string::npos) << chosen.error().message;
    }

    test::TemporaryDirectory directory_;
    std::string admins_ = directory_.file("etc/releases.json");
    std::string installed_ = directory_.file("releases.json");
};

TEST_F(ReleasesFiles, ThatOthersCouldHaveWrittenAreRefused) {
    admin_has("9", 0664);
    expect_denied("can be written by others");
    admin_has("9", 0646);
    expect_denied("can be written by others");
    admin_has("9");
    ::chmod(directory_.file("etc").c_str(), 0775);
    expect_denied("others than root can write in");
    ::chmod(directory_.file("etc").c_str(), 01777);
    expect_denied("others than root can write in");
    ::chmod(directory_.file("etc").c_str(), 0755);
    EXPECT_TRUE(in_force().ok());
}

TEST_F(ReleasesFiles, OfAnotherOwnerAreRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    admin_has("9");
    ASSERT_EQ(::chown(admins_.c_str(), 12345, 12345), 0);
    expect_denied("belongs to user 12345");
    ASSERT_EQ(::chown(admins_.c_str(), 0, 0), 0);
    ASSERT_EQ(::chown(directory_.file("etc").c_str(), 12345, 0), 0);
    expect_denied("belongs to user 12345");
}

TEST_F(ReleasesFiles, BehindALinkAreRefusedAlsoWhenItLeadsNowhere) {
    std::filesystem::create_symlink(installed_, admins_);
    expect_denied("is a symbolic link");
    std::filesystem::remove(admins_);
    std::filesystem::create_symlink("/nowhere", admins_);
    expect_denied("is a symbolic link");
}

TEST_F(ReleasesFiles, ThatAreBrokenAreAnErrorAndNeverPassedOver) {
    std::ofstream(admins_) << R"({"pyxis": {"version": 5}})";
    const Result<ReleasesInForce> chosen = in_force();
    ASSERT_FALSE(chosen.ok());
    EXPECT_EQ(chosen.error(),
              (Error{Code::invalid,
                     admins_ + ": pyxis.version: the number 5 is of the wrong type: use text in quotes; "
                               "pyxis.source: missing; enroot: missing; nvidia-container-library: "
                               "missing"}));
    std::ofstream(admins_) << "";
    EXPECT_EQ(in_force().error().code, Code::invalid);
    std::filesystem::remove(admins_);
    std::filesystem::create_directory(admins_);
    EXPECT_EQ(in_force().error().code, Code::invalid);
}

TEST_F(ReleasesFiles, OfTheAdminReplaceTheInstalledOnesAsAWhole) {
    EXPECT_EQ(in_force().value().path, installed_);
    EXPECT_EQ(in_force().value().releases.pyxis.version, "0.24.0");
    admin_has("9");
    const ReleasesInForce chosen = in_force().value();
    EXPECT_EQ(chosen.path, admins_);
    EXPECT_EQ(chosen.releases.wanted(), (WantedVersions{"9", "1"}));
    EXPECT_EQ(chosen.releases.enroot.packages.size(), 1U);
    // The installed one isn't even looked at.
    std::ofstream(installed_) << "nonsense";
    EXPECT_TRUE(in_force().ok());
    std::filesystem::remove(admins_);
    EXPECT_EQ(in_force().error().code, Code::invalid);
    std::filesystem::remove(installed_);
    EXPECT_EQ(in_force().error().code, Code::missing);
    std::filesystem::remove_all(directory_.file("etc"));
    EXPECT_EQ(in_force().error().code, Code::missing);
}

TEST_F(ReleasesFiles, TellOnlySoManyErrors) {
    std::string text = "{";
    for (int i = 0; i < 100; ++i) text += "\"k" + std::to_string(i) + "\": 1, ";
    std::ofstream(admins_) << text << "\"last\": 1}";
    const std::string message = in_force().error().message;
    EXPECT_NE(message.find("and 84 more"), std::string::npos) << message;
    EXPECT_LT(message.size(), 4096U);
}

TEST(Releases, of_this_version_want_these) {
    EXPECT_EQ(read_releases(ours).value().wanted(), (WantedVersions{"0.24.0", "4.2.1"}));
    EXPECT_EQ(read_releases("/nowhere/releases.json").error().code, Code::missing);
}

struct Pin {
    Platform platform;
    const char* file;
    const char* escaped;
    const char* digest;
};

constexpr Platform deb_amd64{Family::deb, Architecture::amd64};
constexpr Platform deb_arm64{Family::deb, Architecture::arm64};
constexpr Platform rpm_amd64{Family::rpm, Architecture::amd64};
constexpr Platform rpm_arm64{Family::rpm, Architecture::arm64};

// Written down a second time, so that a slip in the file that everything is checked against shows.
constexpr Pin enroot_pins[] = {
    {deb_amd64, "enroot_4.2.1-1_amd64.deb", "enroot_4.2.1-1_amd64.deb",
     "5955c51e88df0c5ed538d87abb5264609d4bad55fa8570745ed5d4ec66c8ab91"},
    {deb_amd64, "enroot+caps_4.2.1-1_amd64.deb", "enroot%2Bcaps_4.2.1-1_amd64.deb",
     "ca22652dcbdd3ebb6e2c68df781ef4301647c79dd7a41ed62899c2fd0f692750"},
    {deb_arm64, "enroot_4.2.1-1_arm64.deb", "enroot_4.2.1-1_arm64.deb",
     "267018b335815a6b32a562915de1f3fad579f7c9d6748e98c62e7369b40be421"},
    {deb_arm64, "enroot+caps_4.2.1-1_arm64.deb", "enroot%2Bcaps_4.2.1-1_arm64.deb",
     "12b811d0c95e879e42e4ac762fa85869a5f3cc9dbb06ab483c01e12e911284a1"},
    {rpm_amd64, "enroot-4.2.1-1.el8.x86_64.rpm", "enroot-4.2.1-1.el8.x86_64.rpm",
     "6749195e37e3a98071ec349884900b12de7677332599da0fd5d8afb5bed9233c"},
    {rpm_amd64, "enroot+caps-4.2.1-1.el8.x86_64.rpm", "enroot%2Bcaps-4.2.1-1.el8.x86_64.rpm",
     "56321a03a1f6c4e4273bf664917eb9a174714499d5506c498db4b64275a2b9c0"},
    {rpm_arm64, "enroot-4.2.1-1.el8.aarch64.rpm", "enroot-4.2.1-1.el8.aarch64.rpm",
     "6b6bc2526f0f0daa7d3cebe6dd33c0468b209e81eebd92def5777520042ec6fe"},
    {rpm_arm64, "enroot+caps-4.2.1-1.el8.aarch64.rpm", "enroot%2Bcaps-4.2.1-1.el8.aarch64.rpm",
     "38cf9ae9602a9a8c3e94637bc1b34e736e8176bda656ba71d371f5e1d1e1eed9"},
};

TEST(Pins, of_enroot_are_these_and_no_others) {
    const Releases releases = read_releases(ours).value();
    std::map<Platform, std::vector<PinnedFile>> expected;
    for (const Pin& pin : enroot_pins) {
        expected[pin.platform].push_back(
            {pin.file,
             std::string("https://github.com/NVIDIA/enroot/releases/download/v4.2.1/") + pin.escaped,
             pin.digest});
    }
    EXPECT_EQ(releases.enroot.packages, expected);
}

TEST(Pins, of_pyxis_and_of_nvidia_s_key) {
    const Releases releases = read_releases(ours).value();
    EXPECT_EQ(
        releases.pyxis.source,
        (PinnedFile{"pyxis-0.24.0.tar.gz", "https://github.com/NVIDIA/pyxis/archive/refs/tags/v0.24.0.tar.gz",
                    "9c4cdb79a67301d8ea05951aa4d2c205f40cf6145e338214b0191add8b36d6c4"}));
    const Releases::NvidiaRepository expected{
        "libnvidia-container-tools",
        "",
        {"libnvidia-container-gpgkey", "https://nvidia.github.io/libnvidia-container/gpgkey",
         "c880576d6cf75a48e5027a871bac70fd0421ab07d2b55f30877b21f1c87959c9"},
        "C95B321B61E88C1809C4F759DDCAE044F796ECB0",
        "https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)",
        "/",
        "https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch"};
    EXPECT_EQ(releases.nvidia, expected);
}

}  // namespace
}  // namespace llmgw::service
