#include "posix/path_probe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

namespace fs = std::filesystem;

class ProbePath : public testing::Test {
  protected:
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    test::TemporaryDirectory directory_;
};

TEST_F(ProbePath, looks_at_the_nearest_directory_that_exists) {
    const PathFinding finding = probe_path(PathUse::data, at("a/b/c"));
    EXPECT_EQ(finding.path, at("a/b/c"));
    EXPECT_EQ(finding.probed, directory_.path());
    EXPECT_EQ(finding.failure, "");
    EXPECT_GT(finding.free_bytes, 0U);
    EXPECT_TRUE(fs::is_empty(directory_.path())) << "nothing is left";
}

TEST_F(ProbePath, says_what_it_cannot_open) {
    ASSERT_EQ(::close(::open(at("file").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)), 0);
    const PathFinding finding = probe_path(PathUse::data, at("file"));
    EXPECT_EQ(finding.failure, "cannot open " + at("file") + ": Not a directory");
}

TEST_F(ProbePath, asks_of_a_shared_path_only_that_it_is_there) {
    EXPECT_EQ(probe_path(PathUse::shared, directory_.path()).failure, "");
    EXPECT_EQ(probe_path(PathUse::shared, at("none")).failure, "No such file or directory");
}

TEST(FileSystemKind, is_known_by_its_number) {
    EXPECT_EQ(file_system_kind(0xef53).name, "ext4");
    EXPECT_FALSE(file_system_kind(0xef53).network);
    EXPECT_EQ(file_system_kind(0x6969).name, "nfs");
    EXPECT_TRUE(file_system_kind(0x6969).network);
    // As a negative number of 32 bits, which it is on some architectures.
    EXPECT_EQ(file_system_kind(0xffffffffff534d42UL).name, "cifs");
    EXPECT_EQ(file_system_kind(0x1234).name, "0x1234");
    EXPECT_EQ(file_system_of("/proc").network, false);
    EXPECT_EQ(file_system_of("/nonexistent").name, "unknown");
}

// Real file systems.
class ProbeMounts : public ProbePath {
  protected:
    void SetUp() override {
        fs::create_directory(at("m"));
        if (::geteuid() != 0 || ::mount("none", at("m").c_str(), "tmpfs", 0, "size=64k") != 0) {
            GTEST_SKIP() << "mounting needs root";
        }
        ::umount2(at("m").c_str(), MNT_DETACH);
        for (const char* name : {"upper", "work", "lower"}) fs::create_directory(at(name));
    }
    void TearDown() override {
        while (::umount2(at("m").c_str(), MNT_DETACH) == 0) {
        }
    }
    void mount(const char* source, const char* type, unsigned long flags, const std::string& options) const {
        ASSERT_EQ(::mount(source, at("m").c_str(), type, flags, options.c_str()), 0) << ::strerror(errno);
    }
    [[nodiscard]] PathFinding probe(PathUse use) const { return probe_path(use, at("m/enroot")); }
};

TEST_F(ProbeMounts, a_disk_can_do_everything) {
    const PathFinding finding = probe(PathUse::temp);
    EXPECT_TRUE(finding.trusted_xattrs);
    EXPECT_FALSE(finding.read_only || finding.network);
}

TEST_F(ProbeMounts, a_small_tmpfs_has_no_room) {
    mount("none", "tmpfs", 0, "size=64m");
    const PathFinding finding = probe(PathUse::data);
    EXPECT_EQ(finding.type, "tmpfs");
    EXPECT_TRUE(finding.whiteouts && finding.trusted_xattrs);
    EXPECT_LE(finding.free_bytes, 64U << 20);
    const std::string reason = unfit(finding).value_or("");
    EXPECT_NE(reason.find(at("m/enroot") + " is on tmpfs"), std::string::npos) << reason;
}

TEST_F(ProbeMounts, a_tmpfs_without_inodes_says_so) {
    mount("none", "tmpfs", 0, "size=4g,nr_inodes=1k");
    PathFinding finding = probe(PathUse::temp);
    ASSERT_TRUE(finding.free_inodes.has_value());
    EXPECT_LE(*finding.free_inodes, 1024U);
    EXPECT_NE(unfit(finding).value_or("").find("free inodes"), std::string::npos);
}

TEST_F(ProbeMounts, an_overlay_holds_no_whiteouts) {
    mount("overlay", "overlay", 0,
          "lowerdir=" + at("lower") + ",upperdir=" + at("upper") + ",workdir=" + at("work"));
    const PathFinding finding = probe(PathUse::temp);
    EXPECT_EQ(finding.type, "overlay");
    EXPECT_FALSE(finding.whiteouts);
    EXPECT_NE(unfit(finding).value_or("").find("can't hold whiteouts"), std::string::npos);
}

TEST_F(ProbeMounts, mount_options_are_seen) {
    mount(at("lower").c_str(), nullptr, MS_BIND, "");
    ASSERT_EQ(::mount("none", at("m").c_str(), nullptr,
                      MS_REMOUNT | MS_BIND | MS_NOEXEC | MS_NOSUID | MS_NODEV, nullptr),
              0);
    const PathFinding finding = probe(PathUse::data);
    EXPECT_TRUE(finding.noexec);
    EXPECT_NE(unfit(finding).value_or("").find("mounted noexec"), std::string::npos);
    EXPECT_TRUE(probe(PathUse::temp).whiteouts) << "nodev doesn't keep them from being made";
    ASSERT_EQ(::mount("none", at("m").c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
    EXPECT_TRUE(probe(PathUse::data).read_only);
    EXPECT_EQ(probe(PathUse::data).failure, "");
    EXPECT_TRUE(fs::is_empty(at("lower"))) << "nothing is left";
}

}  // namespace
}  // namespace llmgw
