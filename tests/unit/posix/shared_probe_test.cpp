#include "posix/shared_probe.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

using namespace std::chrono_literals;

const char* const mountinfo =
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "30 22 0:40 / /shared rw shared:1 - nfs4 nas:/x rw\n"
    "31 22 8:1 /home /home rw,relatime - ext4 /dev/sda1 rw\n"
    "32 30 0:41 / /shared/big\\040disk rw - nfs nas:/y\\040z rw\n"
    "nonsense\n";

TEST(MountedAt, finds_what_a_path_is_on) {
    EXPECT_EQ(mounted_at(mountinfo, "/shared"), (MountedAt{"/shared", "nas:/x"}));
    EXPECT_EQ(mounted_at(mountinfo, "/shared/home"), (MountedAt{"/shared", "nas:/x"}));
    EXPECT_EQ(mounted_at(mountinfo, "/shared/big disk/x"), (MountedAt{"/shared/big disk", "nas:/y z"}));
    EXPECT_EQ(mounted_at(mountinfo, "/sharedmore"), std::nullopt);
    EXPECT_EQ(mounted_at(mountinfo, "/other"), std::nullopt);
    // A part of / bound over itself, as in a unit's own view, is nothing mounted.
    EXPECT_EQ(mounted_at(mountinfo, "/home/shared"), std::nullopt);
    EXPECT_EQ(mounted_at("", "/shared"), std::nullopt);
}

TEST(MountedAt, of_several_on_one_place_the_last_is_seen) {
    EXPECT_EQ(mounted_at(std::string(mountinfo) + "33 30 0:50 / /shared rw - tmpfs over rw\n", "/shared"),
              (MountedAt{"/shared", "over"}));
}

// What the program says and does is played by a script.
class SharedProbeTest : public testing::Test {
  protected:
    std::string program(const std::string& text) const {
        std::ofstream(directory_.file("program")) << "#!/bin/sh\n" << text;
        ::chmod(directory_.file("program").c_str(), 0755);
        return directory_.file("program");
    }
    test::TemporaryDirectory directory_;
};

TEST_F(SharedProbeTest, tells_a_directory_from_what_is_mounted) {
    SharedProbe full(program("exit 0"), 30s);
    EXPECT_EQ(full.look(directory_.path(), true).state, SharedState::directory);
    EXPECT_FALSE(full.look(directory_.path(), true).empty);
    EXPECT_EQ(full.look("/proc", true).state, SharedState::there);
    EXPECT_EQ(full.look("/proc", true).point, "/proc");
    EXPECT_EQ(full.look("/proc/self", true).state, SharedState::directory);
    EXPECT_EQ(full.look("/proc/self", false).state, SharedState::there);
    SharedProbe missing(program("exit 11"), 30s);
    EXPECT_EQ(missing.look(directory_.file("x"), true).state, SharedState::missing);
}

TEST_F(SharedProbeTest, a_mount_that_fails_is_not_there) {
    SharedProbe stale(program("exit 12"), 30s);
    EXPECT_EQ(stale.look("/proc", true).state, SharedState::unanswering);
    EXPECT_EQ(stale.look(directory_.path(), true).state, SharedState::unknown);
}

TEST_F(SharedProbeTest, comes_back_from_one_that_does_not_answer) {
    SharedProbe stale(program("exec sleep 600"), 300ms);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(stale.look("/proc", true).state, SharedState::unanswering);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST(LookAtSharedHere, says_what_it_found) {
    test::TemporaryDirectory directory;
    EXPECT_EQ(look_at_shared_here(directory.file("none")), 11);
    EXPECT_EQ(look_at_shared_here(directory.path()), 10);
    std::ofstream(directory.file("x")) << "x";
    EXPECT_EQ(look_at_shared_here(directory.path()), 0);
    EXPECT_EQ(look_at_shared_here(directory.file("x")), 12);
}

}  // namespace
}  // namespace llmgw
