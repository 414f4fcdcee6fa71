// NVIDIA's repository for apt: a local one, signed by a throw-away key, read by the real apt in a root of its
// own.
#include <sys/stat.h>

#include "packages/sources.hpp"
#include "service/nvidia_repository.hpp"
#include "unit/packages/deb_root.hpp"
#include "unit/service/nvidia_key.hpp"

namespace llmgw::service {
namespace {

using packages::Wanted;
using namespace packages;

class NvidiaApt : public DebRoot {
  protected:
    void SetUp() override {
        DebRoot::SetUp();
        if (IsSkipped()) return;
        NEEDS_PROGRAMS("/usr/bin/gpg", "/usr/bin/gpgconf");
        key_.emplace(place_.file("gpg"));
        write(mirror_ + "/gpgkey", key_->text());
        write(root_ + "/sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
        write(root_ + "/sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
        release_.package = "libnvidia-container-tools";
        release_.key = {"gpgkey", "https://example.org/gpgkey", key_->digest()};
        release_.key_fingerprint = key_->fingerprint();
        release_.deb_uri = "file://" + repository_ + "/$(ARCH)";
        release_.deb_suite = "/";
        spot_ = {this_machine(), root_, place_.file("work"), {}};
        spot_.fetch.cache = place_.file("cache");
        spot_.fetch.mirror = mirror_;
        publish("1.0-1", "1.0-1");
        // Another source of the site's, which has to stay as healthy as it is.
        offer({deb({"site", "1.0"})});
        ASSERT_FINE(manager().refresh({}, never_));
        before_ = health();
    }

    static std::string built_of(const std::string& needs) { return "Source: libnvidia-container\n" + needs; }

    // Tools in one version, and the library in that and a newer one.
    void publish(const std::string& tools, const std::string& library) {
        std::vector<std::string> files{
            deb({"libnvidia-container-tools", tools,
                 built_of("Depends: libnvidia-container1 (>= " + tools + "), libcap2\n")}),
            deb({"libnvidia-container1", tools, built_of("Depends: libnvidia-container-common (>= 1.0)\n")}),
            deb({"libnvidia-container-common", tools, built_of("")}), deb({"libcap2", "2.6"})};
        if (library != tools) {
            files.push_back(deb({"libnvidia-container1", library, built_of("")}));
            files.push_back(deb({"libnvidia-container-common", library, built_of("")}));
        }
        const std::string place = repository_ + "/" + std::string(dpkg_name(this_machine().architecture));
        std::filesystem::remove_all(place);
        std::string index;
        for (const std::string& file : files) {
            const std::string name = std::filesystem::path(file).filename();
            std::filesystem::create_directories(place);
            std::filesystem::copy_file(file, place + "/" + name);
            index += must_run({"/usr/bin/dpkg-deb", "--field", file}) + "Filename: ./" + name +
                     "\nSize: " + std::to_string(std::filesystem::file_size(file)) +
                     "\nSHA256: " + crypto::sha256_hex(read(file)).value() + "\n\n";
        }
        write(place + "/Packages", index);
        write(place + "/Release", "Origin: test\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n " +
                                      crypto::sha256_hex(index).value() + " " + std::to_string(index.size()) +
                                      " Packages\n");
        key_->clear_sign(place + "/Release", place + "/InRelease");
    }

    Result<void> add() {
        DebManager apt = manager();
        return add_nvidia_repository(release_, spot_, apt, watched_.progress, never_);
    }
    NvidiaFacts facts() {
        DebManager apt = manager();
        return gather_nvidia(release_, spot_, apt).value();
    }
    // What apt has, what it is configured with, and that it works.
    std::string health() {
        EXPECT_TRUE(manager().refresh({}, never_).ok());
        return listing(root_ + "/etc/apt") + listing(root_ + "/var/lib/apt/lists");
    }
    void expect_untouched(const Result<void>& refused, const std::string& part) {
        ASSERT_REFUSED(refused, Code::invalid);
        EXPECT_TRUE(mentions(refused.error().message, part)) << refused.error().message;
        EXPECT_EQ(health(), before_);
        EXPECT_FALSE(there(spot_.work));
        EXPECT_FALSE(nvidia_repository_lacks(facts()) == std::nullopt);
    }

    std::optional<NvidiaKey> key_;
    Releases::NvidiaRepository release_;
    NvidiaPlace spot_;
    const std::string mirror_ = place_.file("mirror");
    const std::string repository_ = place_.file("nvidia");
    std::string before_;
};

TEST_F(NvidiaApt, AddsItReadableForEverybodyWhateverTheUmaskAndTakesItBack) {
    const mode_t umask = ::umask(077);
    const Result<void> added = add();
    ::umask(umask);
    ASSERT_FINE(added);
    for (const std::string& path : {nvidia_key_path(spot_), nvidia_source_path(spot_)}) {
        struct stat status {};
        ASSERT_EQ(::stat(path.c_str(), &status), 0) << path;
        EXPECT_EQ(status.st_mode & 07777U, 0644U) << path;
    }
    EXPECT_EQ(read(nvidia_key_path(spot_)), key_->text());
    EXPECT_TRUE(read(nvidia_source_path(spot_)).starts_with("# Written by llmgw-slurm: "));
    EXPECT_EQ(nvidia_repository_lacks(facts()), std::nullopt);
    EXPECT_FALSE(there(spot_.work));
    DebManager apt = manager();
    EXPECT_EQ(apt.offers("libnvidia-container-tools", never_).value().size(), 1U);
    ASSERT_FINE(apt.refresh({}, never_));

    ASSERT_FINE(remove_nvidia_repository(release_, spot_, {}, apt, {}, never_));
    EXPECT_EQ(health(), before_);
}

TEST_F(NvidiaApt, RefusesAKeyWithAnotherDigestAndSaysWhetherItIsAnotherKey) {
    write(mirror_ + "/gpgkey", key_->renewed());
    expect_untouched(add(), "its primary key is still the pinned one");
    const NvidiaKey other(place_.file("other"));
    write(mirror_ + "/gpgkey", other.text());
    expect_untouched(add(), "its primary key is " + other.fingerprint());
    write(mirror_ + "/gpgkey", key_->text().substr(0, key_->text().size() / 2));
    expect_untouched(add(), "what came is no whole public key");
    write(mirror_ + "/gpgkey", "");
    expect_untouched(add(), "what came is no whole public key");
}

TEST_F(NvidiaApt, RefusesAKeyWhosePrimaryIsNotThePinnedOne) {
    release_.key_fingerprint = "C95B321B61E88C1809C4F759DDCAE044F796ECB0";
    expect_untouched(add(), "the pinned \"C95B321B61E88C1809C4F759DDCAE044F796ECB0\"");
}

TEST_F(NvidiaApt, RefusesARepositoryThatIsNotSignedByTheKey) {
    const NvidiaKey other(place_.file("other"));
    const std::string place = repository_ + "/" + std::string(dpkg_name(this_machine().architecture));
    other.clear_sign(place + "/Release", place + "/InRelease");
    expect_untouched(add(), "NVIDIA's repository was tried and is not used");
    std::filesystem::remove(place + "/InRelease");
    expect_untouched(add(), "is not signed");
}

TEST_F(NvidiaApt, SaysWhenTheRepositoryCanNotBeReached) {
    std::filesystem::remove_all(repository_);
    const Result<void> refused = add();
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(mentions(refused.error().message, "was tried and is not used")) << refused.error().message;
    EXPECT_EQ(health(), before_);
}

TEST_F(NvidiaApt, TakesItBackWhenAptCanNotReadAllSourcesAnyMore) {
    // The same repository, spelled as only apt knows that it is, and with another key: apt refuses both
    // together.
    write(root_ + "/etc/apt/keyrings/site.asc", key_->text());
    const std::string arch(dpkg_name(this_machine().architecture));
    write(
        root_ + "/etc/apt/sources.list.d/site.list",
        "deb [signed-by=" + root_ + "/etc/apt/keyrings/site.asc] file:" + repository_ + "/" + arch + " /\n");
    before_ = health();
    expect_untouched(add(), "NVIDIA's repository was added and taken back");
}

TEST_F(NvidiaApt, RespectsASourceOfTheSites) {
    const std::string arch(dpkg_name(this_machine().architecture));
    write(root_ + "/etc/apt/keyrings/site.asc", key_->text());
    const std::string key = root_ + "/etc/apt/keyrings/site.asc";
    const std::string list = root_ + "/etc/apt/sources.list.d/nvidia-container-toolkit.list";
    const std::string sources = root_ + "/etc/apt/sources.list.d/nvidia.sources";
    const std::vector<std::pair<std::string, std::string>> ways{
        {list, "deb [signed-by=" + key + "] file://" + repository_ + "/$(ARCH) /\n"},
        {list, "deb [signed-by=" + key + "] file://" + repository_ + "/" + arch + "/ /\n"},
        {sources,
         "Types: deb\nURIs: file://" + repository_ + "/" + arch + "\nSuites: /\nSigned-By: " + key + "\n"}};
    for (const auto& [path, text] : ways) {
        write(path, text);
        const std::string now = health();
        ASSERT_FINE(add());
        EXPECT_EQ(facts().site_source, path);
        EXPECT_EQ(nvidia_repository_lacks(facts()), std::nullopt);
        EXPECT_EQ(health(), now);
        std::filesystem::remove(path);
    }
}

TEST_F(NvidiaApt, InstallsAndHoldsTheWholeSetAtOneVersion) {
    publish("1.0-1", "1.1-1");
    ASSERT_FINE(add());
    DebManager apt = manager();
    EXPECT_EQ(nvidia_packages_lack(facts(), release_), "libnvidia-container-tools is not installed");
    const Result<Wanted> wanted = nvidia_packages(release_, apt, never_);
    ASSERT_FINE(wanted);
    EXPECT_EQ(wanted.value().names,
              (std::vector<std::string>{"libnvidia-container-common=1.0-1", "libnvidia-container-tools=1.0-1",
                                        "libnvidia-container1=1.0-1"}));
    ASSERT_FINE(install_nvidia_packages(wanted.value(), {}, apt, {}, never_));
    EXPECT_EQ(nvidia_packages_lack(facts(), release_), std::nullopt);
    EXPECT_EQ(version_of("libcap2"), "2.6");

    // An unattended upgrade, and a newer release.
    publish("1.2-1", "1.2-1");
    ASSERT_FINE(apt.refresh({}, never_));
    const std::string upgrade =
        must_run({"/usr/bin/env", "APT_CONFIG=" + root_ + "/etc/apt/apt.conf", "/usr/bin/apt-get", "-o",
                  "Dir=" + root_, "-o", "Dir::State::status=" + root_ + "/var/lib/dpkg/status", "-s", "-y",
                  "dist-upgrade"});
    EXPECT_FALSE(mentions(upgrade, "Inst libnvidia")) << upgrade;
    EXPECT_EQ(nvidia_packages_lack(facts(), release_), std::nullopt);

    // Another pin: our own holds give way, somebody else's don't.
    release_.version = "1.2-1";
    const std::optional<std::string> lacks = nvidia_packages_lack(facts(), release_);
    ASSERT_TRUE(lacks);
    EXPECT_TRUE(mentions(*lacks, "not all at 1.2-1")) << *lacks;
    const Result<Wanted> newer = nvidia_packages(release_, apt, never_);
    ASSERT_FINE(newer);
    ASSERT_REFUSED(install_nvidia_packages(newer.value(), {}, apt, {}, never_), Code::conflict);
    const std::vector<std::string> ours{"libnvidia-container-common", "libnvidia-container-tools",
                                        "libnvidia-container1"};
    ASSERT_FINE(install_nvidia_packages(newer.value(), ours, apt, {}, never_));
    EXPECT_EQ(nvidia_packages_lack(facts(), release_), std::nullopt);
    EXPECT_EQ(version_of("libnvidia-container1"), "1.2-1");

    ASSERT_FINE(
        remove_nvidia_repository(release_, spot_, {ours[0], ours[1], ours[2], "libcap2"}, apt, {}, never_));
    EXPECT_EQ(health(), before_);
    EXPECT_EQ(apt.installed().value(), Installed{});
    EXPECT_TRUE(apt.held().value().empty());
}

TEST_F(NvidiaApt, SaysWhatTheRepositoryHasInsteadOfThePin) {
    ASSERT_FINE(add());
    release_.version = "9.9-1";
    DebManager apt = manager();
    const Result<Wanted> wanted = nvidia_packages(release_, apt, never_);
    ASSERT_REFUSED(wanted, Code::missing);
    EXPECT_TRUE(mentions(wanted.error().message, "they have it at 1.0-1")) << wanted.error().message;
}

}  // namespace
}  // namespace llmgw::service
