#include "packages/apt_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "packages/transaction.hpp"

namespace llmgw::packages::apt {
namespace {

using std::chrono::seconds;
using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

const Wanted pair{{"/cache/enroot_1_amd64.deb", "/cache/enroot+caps_1_amd64.deb"}, {"jq=1.6"}};

TEST(AptCommands, InstallAllOfItAtOnce) {
    const Task task = install_task("/", pair, false, seconds(900));
    EXPECT_EQ(task.argv[0], "/usr/bin/apt-get");
    EXPECT_EQ(
        (Words{task.argv.end() - 5, task.argv.end()}),
        (Words{"install", "--", "/cache/enroot_1_amd64.deb", "/cache/enroot+caps_1_amd64.deb", "jq=1.6"}));
    EXPECT_EQ(task.unit, "llmgw-slurm-packages");
    EXPECT_EQ(task.description, "llmgw-slurm: installs enroot_1_amd64.deb enroot+caps_1_amd64.deb jq=1.6");
    EXPECT_EQ(task.deadline, seconds(3600 + 900));
    EXPECT_FALSE(has(task.argv, "--reinstall"));
    EXPECT_TRUE(has(install_task("/", pair, true, seconds(1)).argv, "--reinstall"));
}

// Whatever may run a package's script, repairs included.
const std::vector<Task> changes{install_task("/", pair, false, seconds(7)),
                                purge_task("/", {"enroot"}, seconds(7)), fix_task("/", seconds(7)),
                                configure_task("/"), forced_purge_task("/", {"enroot"})};

TEST(AptCommands, AskNothingAndRestartNothingInEveryCall) {
    for (const Task& task : changes) {
        const std::string all = [&] {
            std::string text;
            for (const std::string& word : task.argv) text += word + "\n";
            return text;
        }();
        EXPECT_NE(all.find("--force-confdef\n"), std::string::npos) << all;
        EXPECT_NE(all.find("--force-confold\n"), std::string::npos) << all;
        for (const char* variable :
             {"DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_SUSPEND=1", "NEEDRESTART_MODE=l", "LC_ALL=C",
              "APT_LISTCHANGES_FRONTEND=none", "UCF_FORCE_CONFFOLD=1", "PAGER=cat"}) {
            EXPECT_TRUE(has(task.environment, variable)) << variable;
        }
        EXPECT_EQ(task.unit, transaction_unit);
        EXPECT_FALSE(task.unprivileged);
    }
}

TEST(AptCommands, NeverForceAnything) {
    for (const Task& task : changes) {
        if (task.argv[0] != "/usr/bin/apt-get") continue;
        for (const char* option : {"-y", "--no-install-recommends", "APT::Get::allow-downgrades=false",
                                   "APT::Get::AllowUnauthenticated=false", "APT::Get::force-yes=false",
                                   "APT::Get::AutomaticRemove=false", "DPkg::Lock::Timeout=7"}) {
            EXPECT_TRUE(has(task.argv, option)) << option;
        }
        for (const std::string& word : task.argv) {
            EXPECT_FALSE(word.starts_with("--allow") || word.starts_with("--force-yes")) << word;
        }
    }
    EXPECT_TRUE(has(changes[0].argv, "--no-remove"));
    EXPECT_TRUE(has(changes[2].argv, "--no-remove"));
}

TEST(AptCommands, SimulateWithoutChanging) {
    EXPECT_TRUE(has(install_simulation("/", pair, false).argv, "-s"));
    EXPECT_TRUE(has(purge_simulation("/", {"enroot"}).argv, "-s"));
}

TEST(AptCommands, LeaveThisMachineWhereAnotherRootIsMeant) {
    for (const Task& task :
         {install_task("/r", pair, false, seconds(1)), update_task("/r"), hold_task("/r", {"a"}, true)}) {
        EXPECT_TRUE(has(task.argv, "Dir=/r"));
        EXPECT_TRUE(has(task.argv, "Dir::State::status=/r/var/lib/dpkg/status"));
        EXPECT_TRUE(has(task.argv, "Dpkg::Options::=--root=/r"));
        EXPECT_TRUE(has(task.environment, "APT_CONFIG=/r/etc/apt/apt.conf"));
    }
    EXPECT_TRUE(has(configure_task("/r").argv, "--root=/r"));
    EXPECT_TRUE(has(states_query("/r").argv, "--admindir=/r/var/lib/dpkg"));
    for (const Task task = install_task("/", pair, false, seconds(1)); const std::string& word : task.argv) {
        EXPECT_FALSE(word.starts_with("Dir")) << word;
    }
}

TEST(AptCommands, TryASourceApartFromTheMachines) {
    const Words apart = update_one_task("/", "/work/x.list", "/work/lists").argv;
    for (const char* option :
         {"Dir::Etc::sourcelist=/work/x.list", "Dir::Etc::sourceparts=-", "Dir::State::lists=/work/lists",
          "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache=", "APT::Get::List-Cleanup=false",
          "APT::Update::Error-Mode=any"}) {
        EXPECT_TRUE(has(apart, option)) << option;
    }
    for (const Task task = update_one_task("/", "/etc/x.list", ""); const std::string& word : task.argv) {
        EXPECT_FALSE(word.starts_with("Dir::State::lists")) << word;
    }
}

TEST(AptListPrefix, IsWhatAptNamesItsListsBy) {
    EXPECT_EQ(list_prefix("https://nvidia.github.io/libnvidia-container/stable/deb/amd64"),
              "nvidia.github.io_libnvidia-container_stable_deb_amd64_");
    EXPECT_EQ(list_prefix("file:///srv/a_b/"), "_srv_a%5fb_");
    EXPECT_EQ(list_prefix("file:/srv"), "_srv_");
}

}  // namespace
}  // namespace llmgw::packages::apt
