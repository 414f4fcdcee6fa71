#include "packages/dnf_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "packages/transaction.hpp"

namespace llmgw::packages::dnf {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

const Program dnf4{"/usr/bin/dnf", false};
const Wanted wanted{{"/cache/enroot.rpm", "/cache/enroot+caps.rpm"}, {"jq=1.6-1"}};

TEST(DnfCommands, InstallAllOfItAtOnceAndAskNothing) {
    const Task task = install_task(dnf4, "/", wanted);
    EXPECT_EQ(task.argv[0], "/usr/bin/dnf");
    EXPECT_EQ((Words{task.argv.end() - 4, task.argv.end()}),
              (Words{"install", "/cache/enroot.rpm", "/cache/enroot+caps.rpm", "jq-1.6-1"}));
    EXPECT_EQ(task.unit, transaction_unit);
    EXPECT_EQ(task.description, "llmgw-slurm: installs enroot.rpm enroot+caps.rpm jq=1.6-1");
    for (const Task& change : {task, remove_task(dnf4, "/", {"enroot"}), refresh_task(dnf4, "/")}) {
        EXPECT_TRUE(has(change.argv, "-y"));
        EXPECT_TRUE(has(change.argv, "--setopt=install_weak_deps=False"));
        EXPECT_TRUE(has(change.argv, "--setopt=clean_requirements_on_remove=False"));
        EXPECT_TRUE(has(change.argv, "--setopt=exit_on_lock=True"));
        EXPECT_TRUE(has(change.environment, "LC_ALL=C"));
    }
}

TEST(DnfCommands, PreviewsAnswerNo) {
    for (const Task& task :
         {install_preview_task(dnf4, "/", wanted), remove_preview_task(dnf4, "/", {"enroot"})}) {
        EXPECT_TRUE(has(task.argv, "--assumeno"));
        EXPECT_FALSE(has(task.argv, "-y"));
    }
}

TEST(DnfCommands, CheckSignaturesOfWhatHasNoDigestOfOurs) {
    EXPECT_TRUE(has(install_task(dnf4, "/", wanted).argv, "--setopt=localpkg_gpgcheck=False"));
    for (const Task task = install_task(dnf4, "/", {{}, {"jq"}}); const std::string& word : task.argv) {
        EXPECT_EQ(word.find("gpgcheck"), std::string::npos) << word;
    }
    for (const Task task = install_task(dnf4, "/", wanted); const std::string& word : task.argv)
        EXPECT_NE(word, "--nogpgcheck");
}

TEST(DnfCommands, LeaveThisMachineWhereAnotherRootIsMeant) {
    EXPECT_TRUE(has(install_task(dnf4, "/r", wanted).argv, "--installroot=/r"));
    EXPECT_TRUE(has(install_task(dnf4, "/r", wanted).argv, "--setopt=reposdir=/r/etc/yum.repos.d"));
    const Words query = installed_query("/r").argv;
    EXPECT_EQ((Words{query.begin(), query.begin() + 3}), (Words{"/usr/bin/rpm", "--root", "/r"}));
    EXPECT_EQ(erase_task("/r", {"enroot-1-1.x86_64"}).argv,
              (Words{"/usr/bin/rpm", "--root", "/r", "-e", "--nodeps", "enroot-1-1.x86_64"}));
    for (const Task task = install_task(dnf4, "/", wanted); const std::string& word : task.argv) {
        EXPECT_FALSE(word.starts_with("--installroot")) << word;
    }
}

TEST(DnfCommands, TryARepositoryApartFromTheMachines) {
    const Words words = try_repository_task(dnf4, "/", "/work/source", "/work/cache").argv;
    EXPECT_TRUE(has(words, "--setopt=reposdir=/work/source"));
    EXPECT_TRUE(has(words, "--setopt=cachedir=/work/cache"));
    EXPECT_TRUE(has(read_repositories_task(dnf4, "/", {"a", "b"}).argv, "--repo=b"));
}

}  // namespace
}  // namespace llmgw::packages::dnf
