// With the stand-in for enroot, which really enters a container.
#include "service/proof.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "built_paths.hpp"
#include "posix/child_runner.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class ProveContainers : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
        if (::access("/usr/bin/mksquashfs", X_OK) != 0) GTEST_SKIP() << "squashfs-tools are not installed";
        ::chmod(directory_.path().c_str(), 0755);
        for (const char* place : {"bin", "run", "etc/enroot/hooks.d", "etc/enroot/mounts.d"}) {
            fs::create_directories(file(place));
        }
        for (const char* place : {"data", "cache", "runtime"}) {
            fs::create_directory(file(place));
            ::chmod(file(place).c_str(), 01777);
            proof_.user_directories.push_back(file(place) + "/user-65534");
        }
        proof_.user_directories.erase(proof_.user_directories.begin(), proof_.user_directories.begin() + 3);
        fs::copy_file(LLMGW_STANDIN_ENROOT, file("bin/enroot"));
        std::ofstream(file("etc/enroot/enroot.conf"))
            << "ENROOT_RUNTIME_PATH " << file("runtime") << "/user-$(id -u)\nENROOT_CACHE_PATH "
            << file("cache") << "/user-$(id -u)\nENROOT_DATA_PATH " << file("data")
            << "/user-$(id -u)\nENROOT_ROOTFS_WRITABLE yes\n";
        proof_.enroot = file("bin/enroot");
        proof_.init = LLMGW_PROOF_INIT;
        proof_.run_dir = file("run");
    }
    [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
    Result<void> prove(const std::stop_token& stop = {}) {
        ChildRunner runner;
        return prove_containers(proof_, runner, stop);
    }
    std::string refusal() {
        const Result<void> proved = prove();
        EXPECT_FALSE(proved.ok());
        expect_nothing_left();
        return proved ? "" : proved.error().message;
    }
    void expect_nothing_left() const {
        for (const char* place : {"data", "cache", "runtime", "run"}) {
            EXPECT_TRUE(fs::is_empty(file(place))) << place;
        }
    }
    // In place of enroot.
    void script(const std::string& text) {
        fs::remove(file("bin/enroot"));
        std::ofstream(file("bin/enroot")) << "#!/bin/sh\n" << text << "\n";
        fs::permissions(file("bin/enroot"), fs::perms(0755));
    }
    void hook(const std::string& name, const std::string& text) {
        std::ofstream(file("etc/enroot/hooks.d/" + name)) << "#!/bin/sh\n" << text << "\n";
        fs::permissions(file("etc/enroot/hooks.d/" + name), fs::perms(0755));
    }

    test::TemporaryDirectory directory_;
    Proof proof_;
};

TEST_F(ProveContainers, passes_and_leaves_nothing) {
    const Result<void> proved = prove();
    EXPECT_TRUE(proved) << proved.error().message;
    expect_nothing_left();
}

TEST_F(ProveContainers, runs_enroot_as_nobody_without_home_and_network) {
    script(
        "env > /dev/null; echo \"$(id -u) $(env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= | cut -d= -f1 | tr "
        "'\\n' "
        "' ') $(tail -n +3 /proc/net/dev | grep -vc lo:) $(grep -c 'NoNewPrivs:.0' /proc/self/status)\"; "
        "exit 1");
    EXPECT_EQ(refusal(), "enroot create: 65534 PATH  0 1 (exit code 1)");
}

TEST_F(ProveContainers, clears_what_a_killed_proof_left) {
    const std::string data = file("data/user-65534");
    fs::create_directories(data + "/llmgw-proof/etc");
    fs::create_directories(file("run/proof/tree/old"));
    for (const auto& path : {data, data + "/llmgw-proof", data + "/llmgw-proof/etc"}) {
        ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    }
    const Result<void> proved = prove();
    EXPECT_TRUE(proved) << proved.error().message;
    expect_nothing_left();
}

TEST_F(ProveContainers, keeps_other_containers_of_that_user) {
    const std::string other = file("data/user-65534/other");
    fs::create_directories(other);
    ASSERT_EQ(::chown(file("data/user-65534").c_str(), 65534, 65534), 0);
    EXPECT_TRUE(prove());
    EXPECT_TRUE(fs::exists(other));
}

TEST_F(ProveContainers, says_what_enroot_said) {
    ::chmod(file("data").c_str(), 0755);
    EXPECT_EQ(refusal(), "enroot create: [ERROR] cannot create directory " + file("data/user-65534") +
                             ": Permission denied (exit code 1)");
}

TEST_F(ProveContainers, is_not_fooled_by_what_only_looks_like_a_container) {
    // Answers with the right token, but from the machine.
    script(
        "[ \"$1\" = start ] || exit 0; for token; do :; done; echo \"llmgw-proof $token $token $(stat -c "
        "'%Hd:%Ld %i' /) 0\"");
    EXPECT_EQ(refusal(), "enroot start: the program ran on the machine itself, not in a container");
    script("[ \"$1\" = start ] || exit 0; echo \"llmgw-proof old old 1:1 1 0\"");
    EXPECT_EQ(refusal(), "enroot start: another container than the one that was made has answered");
    script("exit 0");
    EXPECT_EQ(refusal(), "enroot start: the container did not answer: it said nothing (exit code 0)");
}

TEST_F(ProveContainers, ends_an_enroot_that_hangs) {
    script("[ \"$1\" = start ] || exit 0; echo waiting; exec sleep 1000");
    proof_.deadline = 10s;
    EXPECT_EQ(refusal(), "enroot start: " + proof_.enroot +
                             " took longer than 10 s and was ended; its last line: \"waiting\"");
}

TEST_F(ProveContainers, returns_when_the_helper_ends) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(prove(stop.get_token()).error().code, Code::unavailable);
}

TEST_F(ProveContainers, names_the_package_of_what_is_missing) {
    proof_.search_path = file("bin");
    EXPECT_EQ(refusal(), "mksquashfs is not installed; install squashfs-tools");
    proof_.enroot = file("bin/none");
    EXPECT_EQ(refusal(), file("bin/none") + " is not there; install the package enroot");
}

TEST_F(ProveContainers, notices_capabilities_that_are_gone) {
    proof_.capabilities = true;
    EXPECT_TRUE(prove()) << "none of its programs is there";
    std::ofstream(file("bin/enroot-mksquashovlfs")) << "x";
    EXPECT_EQ(refusal(),
              file("bin/enroot-mksquashovlfs") +
                  " has lost its file capabilities, without which images cannot be imported; reinstall "
                  "the package enroot+caps");
    const unsigned char bytes[20] = {1, 0, 0, 2, 0, 0, 0x20, 0};
    if (::setxattr(file("bin/enroot-mksquashovlfs").c_str(), "security.capability", bytes, sizeof bytes, 0) ==
        0) {
        EXPECT_TRUE(prove());
    }
}

TEST_F(ProveContainers, converts_a_layer_as_an_import_does) {
    proof_.capabilities = true;
    const std::string program = file("bin/enroot-aufs2ovlfs");
    std::ofstream(program)
        << "#!/bin/sh\necho \"cannot convert $(id -u) $(cd \"$1\" && find . -type f | sort | "
           "tr '\\n' ' ')\"; exit 1\n";
    fs::permissions(program, fs::perms(0755));
    const unsigned char bytes[20] = {1, 0, 0, 2, 0, 0, 0x20, 0x08};
    if (::setxattr(program.c_str(), "security.capability", bytes, sizeof bytes, 0) != 0) {
        GTEST_SKIP() << "file capabilities can't be set here";
    }
    EXPECT_EQ(refusal(),
              "enroot-aufs2ovlfs: cannot convert 65534 ./.wh.gone ./opaque/.wh..wh..opq (exit code 1)");
}

TEST_F(ProveContainers, wants_nvidia_s_hook_to_have_run_where_gpus_are) {
    proof_.gpu = true;
    EXPECT_NE(refusal().find("NVIDIA's hook put nothing into the container"), std::string::npos);
    hook("98-nvidia.sh",
         "grep -q ^NVIDIA_VISIBLE_DEVICES=all \"$ENROOT_ENVIRON\" || exit 3\n"
         "echo '/bin/true /usr/bin/nvidia-smi none x-create=file,bind,ro' >> \"$ENROOT_MOUNTS\"");
    const Result<void> proved = prove();
    EXPECT_TRUE(proved) << proved.error().message;
    expect_nothing_left();
    hook("98-nvidia.sh", "echo '[ERROR] Command not found: nvidia-container-cli, see x' >&2; exit 1");
    EXPECT_NE(refusal().find("install libnvidia-container-tools"), std::string::npos);
}

TEST_F(ProveContainers, fails_where_a_configured_mount_does) {
    std::ofstream(file("etc/enroot/mounts.d/50-shared.fstab"))
        << "# the shared path\n/nonexistent/shared /nonexistent/shared none x-create=dir,rbind,rw\n";
    EXPECT_NE(refusal().find("/nonexistent/shared"), std::string::npos);
    std::ofstream(file("etc/enroot/mounts.d/50-shared.fstab"))
        << file("run") << " /shared none x-create=dir,rbind,rw,nosuid\n";
    const Result<void> proved = prove();
    EXPECT_TRUE(proved) << proved.error().message;
}

}  // namespace
}  // namespace llmgw::service
