#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "service/nvidia_repository.hpp"
#include "unit/packages/machine.hpp"

namespace llmgw::service {
namespace {

using packages::write;

class NvidiaDevices : public ::testing::Test {
  protected:
    void pci(const std::string& address, const std::string& vendor, const std::string& kind) {
        write(root_.file("sys/bus/pci/devices/" + address + "/vendor"), vendor + "\n");
        write(root_.file("sys/bus/pci/devices/" + address + "/class"), kind + "\n");
    }
    test::TemporaryDirectory root_;
};

TEST_F(NvidiaDevices, AreNotOnAMachineWithoutThem) {
    EXPECT_EQ(nvidia_device(root_.path()), "");
    pci("0000:00:1f.3", "0x10de", "0x040300");  // the sound of a card
    pci("0000:03:00.0", "0x1002", "0x030000");  // somebody else's card
    pci("0000:04:00.0", "", "");
    std::filesystem::create_directories(root_.file("dev"));
    write(root_.file("dev/nvidia0"), "");  // a file, as a container's image may have it
    EXPECT_EQ(nvidia_device(root_.path()), "");
}

TEST_F(NvidiaDevices, AreSeenOnTheBusBeforeTheyHaveADriver) {
    pci("0000:17:00.0", "0x10de", "0x030200");
    pci("0000:65:00.0", "0x10de", "0x030000");
    EXPECT_EQ(nvidia_device(root_.path()), "PCI device 0000:17:00.0");
}

TEST_F(NvidiaDevices, AreSeenByTheirNodes) {
    NEEDS_ROOT();
    std::filesystem::create_directories(root_.file("dev"));
    if (::mknod(root_.file("dev/nvidia0").c_str(), S_IFCHR | 0600, makedev(195, 0)) != 0) {
        GTEST_SKIP() << "no device nodes can be made here";
    }
    EXPECT_EQ(nvidia_device(root_.path()), "/dev/nvidia0");
}

class NvidiaLacks : public ::testing::Test {
  protected:
    static NvidiaFacts good() {
        const std::string version = "1.17.8-1";
        return {"/dev/nvidia0",
                "",
                true,
                true,
                {{"libnvidia-container-tools", version}, {"libnvidia-container1", version}},
                {"libnvidia-container-tools", "libnvidia-container1"}};
    }
    static Releases::NvidiaRepository release(const std::string& version = "") {
        Releases::NvidiaRepository release;
        release.package = "libnvidia-container-tools";
        release.version = version;
        return release;
    }
};

TEST_F(NvidiaLacks, NothingWhereAllIsThereAndWhereThereIsNoGpu) {
    EXPECT_EQ(nvidia_repository_lacks(good()), std::nullopt);
    EXPECT_EQ(nvidia_packages_lack(good(), release()), std::nullopt);
    EXPECT_EQ(nvidia_packages_lack(good(), release("1.17.8-1")), std::nullopt);
    EXPECT_EQ(nvidia_repository_lacks({}), std::nullopt);
    EXPECT_EQ(nvidia_packages_lack({}, release()), std::nullopt);
}

TEST_F(NvidiaLacks, KeyAndSourceUnlessTheSiteHasItsOwn) {
    NvidiaFacts facts = good();
    facts.source = false;
    EXPECT_EQ(nvidia_repository_lacks(facts), "NVIDIA's repository is not among the package sources");
    facts.key = false;
    EXPECT_EQ(nvidia_repository_lacks(facts), "NVIDIA's key is not in place");
    facts.site_source = "/etc/apt/sources.list.d/cuda.list";
    EXPECT_EQ(nvidia_repository_lacks(facts), std::nullopt);
}

TEST_F(NvidiaLacks, PackagesThatAreMissingDriftedOrFree) {
    NvidiaFacts facts = good();
    facts.versions["libnvidia-container1"] = "1.17.9-1";
    EXPECT_EQ(nvidia_packages_lack(facts, release()),
              "the packages of NVIDIA's container library are not all at 1.17.8-1: libnvidia-container-tools "
              "1.17.8-1, "
              "libnvidia-container1 1.17.9-1");
    EXPECT_TRUE(nvidia_packages_lack(good(), release("1.17.9-1")));
    facts = good();
    facts.held.pop_back();
    EXPECT_EQ(nvidia_packages_lack(facts, release()), "libnvidia-container1 is not held at 1.17.8-1");
    facts.versions.erase("libnvidia-container-tools");
    EXPECT_EQ(nvidia_packages_lack(facts, release()), "libnvidia-container-tools is not installed");
}

}  // namespace
}  // namespace llmgw::service
