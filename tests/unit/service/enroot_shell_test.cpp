// What enroot's shell makes of our files: the settings are read by bash, and the hook runs in it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/machine_files.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;

class EnrootShell : public testing::Test {
  protected:
    void SetUp() override {
        if (::access("/bin/bash", X_OK) != 0) GTEST_SKIP() << "needs bash";
        layout_.directory = at("etc");
        layout_.tmpfiles_directory = at("tmpfiles.d");
        const Result<std::vector<MachineFile>> files = enroot_files({}, layout_, false);
        for (const MachineFile& file : files.value()) put(file.path, file.content, file.mode);
    }
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    static void put(const std::string& path, const std::string& text, mode_t mode) {
        fs::create_directories(fs::path(path).parent_path());
        std::ofstream(path, std::ios::binary) << text;
        ::chmod(path.c_str(), mode);
    }
    [[nodiscard]] Outcome bash(const std::vector<std::string>& arguments, const std::string& path) const {
        Command command;
        command.argv = {"/bin/bash"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.environment = {"PATH=" + path, "ENROOT_LIBRARY_PATH=" + at("lib"),
                               "ENROOT_SYSCONF_PATH=" + at("etc"), "OUT=" + at("mounts")};
        command.deadline = std::chrono::seconds(60);
        const Result<Outcome> outcome = run(command);
        return outcome ? outcome.value() : Outcome{127, outcome.error().message};
    }
    test::TemporaryDirectory directory_;
    EnrootLayout layout_;
};

// enroot drops a file that bash can't parse, and says nothing of it but on its standard output.
TEST_F(EnrootShell, parses_the_settings) {
    const Outcome outcome = bash({"-n", at("etc/enroot.conf.d/zz-llmgw.conf")}, "/usr/bin:/bin");
    EXPECT_TRUE(outcome.success()) << outcome.output;
    const Outcome hook = bash({"-n", at("etc/hooks.d/97-llmgw-no-gpu.sh")}, "/usr/bin:/bin");
    EXPECT_TRUE(hook.success()) << hook.output;
}

// The loop of enroot's config::load() (4.1 enroot.in), without its check of keys.
TEST_F(EnrootShell, takes_the_values_from_the_settings) {
    const std::string loop =
        "while IFS=$' \\t=' read -r key value; do [[ ${key} == ENROOT_* ]] && echo \"${key}=$(eval echo "
        "\"${value}\")\"; "
        "done < \"$1\"";
    const Outcome outcome = bash({"-c", loop, "-", at("etc/enroot.conf.d/zz-llmgw.conf")}, "/usr/bin:/bin");
    const std::string user = "user-" + std::to_string(::geteuid());
    EXPECT_EQ(outcome.output,
              "ENROOT_RUNTIME_PATH=/run/enroot/" + user + "\nENROOT_CACHE_PATH=/var/lib/enroot/cache/" +
                  user + "\nENROOT_DATA_PATH=/var/lib/enroot/data/" + user +
                  "\nENROOT_TEMP_PATH=/tmp\nENROOT_REMAP_ROOT=no\nENROOT_ROOTFS_WRITABLE=yes\n");
}

TEST_F(EnrootShell, hides_nvidias_hook_in_the_containers_own_namespace) {
    if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a GPU";
    put(at("lib/common.sh"), "common::mountpoint() { printf %s /etc; }\n", 0644);
    put(at("bin/enroot-mount"), "#!/bin/bash\ncat >> \"${OUT}\"\n", 0755);
    put(at("etc/hooks.d/98-nvidia.sh"), "#!/bin/bash\n", 0755);
    put(at("etc/hooks.d/98-off-nvidia.sh"), "#!/bin/bash\n", 0644);
    put(at("etc/hooks.d/99-mellanox.sh"), "#!/bin/bash\n", 0755);
    const Outcome outcome = bash({at("etc/hooks.d/97-llmgw-no-gpu.sh")}, at("bin") + ":/usr/bin:/bin");
    EXPECT_TRUE(outcome.success()) << outcome.output;
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(read_file(at("mounts"), 4096).value(),
              "none /etc none slave\n/dev/null " + at("etc/hooks.d/98-nvidia.sh") + " none bind\n");
}

TEST_F(EnrootShell, starts_containers_also_where_the_hook_cannot_be_hidden) {
    const Outcome outcome = bash({at("etc/hooks.d/97-llmgw-no-gpu.sh")}, "/usr/bin:/bin");
    EXPECT_TRUE(outcome.success()) << outcome.output;
}

}  // namespace
}  // namespace llmgw::service
