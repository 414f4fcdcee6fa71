// NVIDIA's repository for dnf: a local one, signed by a throw-away key, read by the real dnf in a root of its
// own.
#include "service/nvidia_repository.hpp"
#include "unit/packages/rpm_root.hpp"
#include "unit/service/nvidia_key.hpp"

namespace llmgw::service {
namespace {

using namespace packages;

class NvidiaDnf : public RpmRoot {
  protected:
    void SetUp() override {
        RpmRoot::SetUp();
        if (IsSkipped()) return;
        NEEDS_PROGRAMS("/usr/bin/gpg", "/usr/bin/gpgconf");
        key_.emplace(place_.file("gpg"));
        write(place_.file("mirror/gpgkey"), key_->text());
        write(root_ + "/sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
        write(root_ + "/sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
        release_.package = "libnvidia-container-tools";
        release_.key = {"gpgkey", "https://example.org/gpgkey", key_->digest()};
        release_.key_fingerprint = key_->fingerprint();
        release_.rpm_baseurl = "file://" + nvidia_ + "/$basearch";
        spot_ = {platform_of_this_machine().value(), root_, place_.file("work"), {}};
        spot_.platform.family = Family::rpm;
        spot_.fetch.cache = place_.file("cache");
        spot_.fetch.mirror = place_.file("mirror");
    }

    // Tools in one version, and the library in that and a newer one.
    void publish(const std::string& tools, const std::string& library) {
        const std::string source = "libnvidia-container";
        std::vector<std::string> files{
            rpm({"libnvidia-container-tools", tools, "libnvidia-container1 >= " + tools, source}),
            rpm({"libnvidia-container1", tools, "", source})};
        if (library != tools) files.push_back(rpm({"libnvidia-container1", library, "", source}));
        const std::string place = nvidia_ + "/" + std::string(rpm_name(spot_.platform.architecture));
        std::filesystem::remove_all(place);
        std::filesystem::create_directories(place);
        for (const std::string& file : files) {
            std::filesystem::copy_file(file,
                                       place + "/" + std::string(std::filesystem::path(file).filename()));
        }
        must_run({"/usr/bin/createrepo_c", "-q", place});
        key_->sign(place + "/repodata/repomd.xml");
    }

    std::optional<NvidiaKey> key_;
    Releases::NvidiaRepository release_;
    NvidiaPlace spot_;
    const std::string nvidia_ = place_.file("nvidia");
};

TEST_F(NvidiaDnf, AddsItInstallsAndHoldsTheSetAndTakesAllBack) {
    publish("1.0", "1.1");
    RpmManager dnf = manager();
    ASSERT_FINE(dnf.refresh({}, never_));
    const std::string before = tree();
    ASSERT_FINE(add_nvidia_repository(release_, spot_, dnf, {}, never_));
    EXPECT_EQ(read(nvidia_key_path(spot_)), key_->text());
    EXPECT_TRUE(mentions(read(nvidia_source_path(spot_)), "repo_gpgcheck=1\n"));
    EXPECT_FALSE(there(spot_.work));
    EXPECT_EQ(nvidia_repository_lacks(gather_nvidia(release_, spot_, dnf).value()), std::nullopt);

    const Result<Wanted> wanted = nvidia_packages(release_, dnf, never_);
    ASSERT_FINE(wanted);
    EXPECT_EQ(wanted.value().names,
              (std::vector<std::string>{"libnvidia-container-tools=1.0-1", "libnvidia-container1=1.0-1"}));
    ASSERT_FINE(install_nvidia_packages(wanted.value(), {}, dnf, {}, never_));
    const NvidiaFacts facts = gather_nvidia(release_, spot_, dnf).value();
    EXPECT_EQ(nvidia_packages_lack(facts, release_), std::nullopt);
    EXPECT_EQ(nvidia_repository_lacks(facts), std::nullopt);
    EXPECT_EQ(facts.held.size(), 2U);

    ASSERT_FINE(remove_nvidia_repository(
        release_, spot_, {"libnvidia-container-tools", "libnvidia-container1"}, dnf, {}, never_));
    EXPECT_EQ(tree(), before);
    EXPECT_TRUE(dnf.installed().value().versions.empty());
}

TEST_F(NvidiaDnf, RefusesARepositoryThatIsNotSignedByTheKey) {
    publish("1.0", "1.0");
    const NvidiaKey other(place_.file("other"));
    other.sign(nvidia_ + "/" + std::string(rpm_name(spot_.platform.architecture)) + "/repodata/repomd.xml");
    RpmManager dnf = manager();
    const std::string before = tree();
    const Result<void> added = add_nvidia_repository(release_, spot_, dnf, {}, never_);
    ASSERT_FALSE(added.ok());
    EXPECT_TRUE(mentions(added.error().message, "was tried and is not used")) << added.error().message;
    EXPECT_EQ(tree(), before);
    EXPECT_FALSE(there(spot_.work));
    ASSERT_FINE(dnf.refresh({}, never_));
}

TEST_F(NvidiaDnf, RespectsASourceOfTheSites) {
    const std::string site = root_ + "/etc/yum.repos.d/nvidia-container-toolkit.repo";
    write(site, "[nvidia-container-toolkit]\nname=x\nbaseurl=file://" + nvidia_ + "/$basearch/\nenabled=1\n");
    RpmManager dnf = manager();
    const std::string before = tree();
    ASSERT_FINE(add_nvidia_repository(release_, spot_, dnf, {}, never_));
    EXPECT_EQ(gather_nvidia(release_, spot_, dnf).value().site_source, site);
    EXPECT_EQ(tree(), before);
}

}  // namespace
}  // namespace llmgw::service
