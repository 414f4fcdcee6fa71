#include "core/cgroup_place.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

// As they were on 22.05 with cgroup/v1, and on 22.05, 24.11 and 26.05 with cgroup/v2.
constexpr const char* v1_daemon =
    "9:name=systemd:/\n6:freezer:/slurm_n1/uid_20001/job_140001\n5:devices:/\n4:memory:/\n0::/\n";
constexpr const char* v1_login =
    "9:name=systemd:/\n6:freezer:/slurm_n1/uid_20001/job_140001/step_extern\n"
    "5:devices:/slurm_n1/uid_20001/job_140001/step_extern\n"
    "4:memory:/slurm_n1/uid_20001/job_140001/step_extern/task_0\n0::/\n";
constexpr const char* v1_place = "/slurm_n1/uid_20001/job_140001/step_extern";
constexpr const char* v2_daemon = "0::/system.slice/n1_slurmstepd.scope/job_5/step_extern/slurm\n";
constexpr const char* sluid_daemon =
    "0::/system.slice/n1_slurmstepd.scope/s0123456789ABC/step_extern/slurm\n";

std::optional<StepPlace> place_in(const char* text) {
    return extern_step_place(parse_cgroups(text));
}

TEST(StepPlace, is_nowhere_without_cgroups_of_slurms) {
    for (const char* text :
         {"", "0::/\n", "6:freezer:/\n0::/user.slice/x.scope\n", "garbage\n:::\n6:freezer\n",
          "0::/a/step_extern\n", "0::/a/step_0/slurm\n", "0::/a/step_extern/slurm/x\n",
          "6:freezer:/slurm/uid_1/job_5/step_0\n", "6:freezer:/slurm/uid_1/job_5/step_extern2\n",
          "5:devices:/slurm_n1/uid_1/job_5\n", "0::relative/step_extern/slurm\n"}) {
        EXPECT_FALSE(place_in(text)) << text;
    }
}

TEST(StepPlace, is_read_off_slurmstepds_own) {
    EXPECT_EQ(place_in(v1_daemon), (StepPlace{"freezer", v1_place}));
    EXPECT_EQ(place_in("3:cpuset,freezer:/slurm_n1/uid_1/job_5/step_extern/task_0\n"),
              (StepPlace{"cpuset,freezer", "/slurm_n1/uid_1/job_5/step_extern"}));
    EXPECT_EQ(place_in(v2_daemon), (StepPlace{"", "/system.slice/n1_slurmstepd.scope/job_5/step_extern"}));
    EXPECT_EQ(place_in(sluid_daemon),
              (StepPlace{"", "/system.slice/n1_slurmstepd.scope/s0123456789ABC/step_extern"}));
    // Hybrid: the unified hierarchy says nothing, freezer does.
    EXPECT_EQ(place_in("6:freezer:/slurm_n1/uid_1/job_5\n0::/system.slice/slurmd.service\n")->tracker,
              "freezer");
}

TEST(StepPlace, of_another_job_with_the_same_beginning_does_not_hold) {
    const StepPlace place{"freezer", "/slurm_n1/uid_1/job_5/step_extern"};
    EXPECT_TRUE(held_in(parse_cgroups("6:freezer:/slurm_n1/uid_1/job_5/step_extern2\n"), place).empty());
    EXPECT_TRUE(held_in(parse_cgroups("6:freezer:/slurm_n1/uid_1/job_55/step_extern\n"), place).empty());
    EXPECT_TRUE(held_in(parse_cgroups("6:freezer:/slurm_n1/uid_1/job_5\n"), place).empty());
}

TEST(StepPlace, holds_in_every_hierarchy_that_slurm_uses) {
    const StepPlace place = place_in(v1_daemon).value();
    const std::vector<std::string> held = held_in(parse_cgroups(v1_login), place);
    EXPECT_EQ(held, (std::vector<std::string>{"freezer", "devices", "memory"}));
    EXPECT_EQ(escaped_from(parse_cgroups(v1_login), place, held), "");
    const char* moved =
        "6:freezer:/slurm_n1/uid_20001/job_140001/step_extern\n5:devices:/\n4:memory:/user.slice\n";
    EXPECT_EQ(escaped_from(parse_cgroups(moved), place, held), "devices, memory");
    EXPECT_EQ(escaped_from({}, place, held), "freezer, devices, memory");
}

TEST(StepPlace, of_v2_has_a_name_in_messages) {
    const StepPlace place = place_in(v2_daemon).value();
    const Cgroups login =
        parse_cgroups("0::/system.slice/n1_slurmstepd.scope/job_5/step_extern/user/task_special\n");
    EXPECT_EQ(held_in(login, place), std::vector<std::string>{""});
    EXPECT_EQ(escaped_from(parse_cgroups("0::/user.slice/user-1000.slice/session-1.scope\n"), place, {""}),
              "cgroup v2");
}

TEST(JobsPlace, is_known_in_v1_only) {
    EXPECT_EQ(jobs_place_of({"freezer", "/slurm_n1/uid_1/job_5/step_extern"}, 20001),
              (StepPlace{"freezer", "/slurm_n1/uid_20001"}));
    EXPECT_FALSE(jobs_place_of({"freezer", "/slurm_n1/job_5/step_extern"}, 1));
    EXPECT_FALSE(jobs_place_of({"freezer", "/job_5/step_extern"}, 1));
    EXPECT_FALSE(jobs_place_of({"", "/system.slice/n1_slurmstepd.scope/job_5/step_extern"}, 1));
}

TEST(CgroupDirectory, is_found_where_the_hierarchy_is_mounted) {
    const char* mounts =
        "30 24 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
        "31 30 0:27 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
        "32 30 0:28 / /sys/fs/cgroup/freezer rw shared:10 - cgroup cgroup rw,freezer\n"
        "33 30 0:29 /inner /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\nshort line\n - \n";
    EXPECT_EQ(cgroup_directory(mounts, {"freezer", "/slurm/a"}), "/sys/fs/cgroup/freezer/slurm/a");
    EXPECT_EQ(cgroup_directory(mounts, {"", "/x/step_extern"}), "/sys/fs/cgroup/unified/x/step_extern");
    EXPECT_EQ(cgroup_directory(mounts, {"memory", "/inner/slurm"}), "/sys/fs/cgroup/memory/slurm");
    EXPECT_FALSE(cgroup_directory(mounts, {"memory", "/elsewhere"}));
    EXPECT_FALSE(cgroup_directory(mounts, {"pids", "/slurm"}));
    EXPECT_FALSE(cgroup_directory("", {"", "/x"}));
}

}  // namespace
}  // namespace llmgw
