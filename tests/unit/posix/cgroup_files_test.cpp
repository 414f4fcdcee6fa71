#include "posix/cgroup_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

namespace fs = std::filesystem;

// A hierarchy in a directory, and a /proc that says that it is mounted there.
class CgroupFiles : public testing::Test {
  protected:
    void mount(const std::string& type, const std::string& options) const {
        write("self/mountinfo", "30 1 0:26 / " + directory_.file("groups") + " rw - " + type + " " + type +
                                    " " + options + "\n");
    }
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories(fs::path(directory_.file(name)).parent_path());
        std::ofstream(directory_.file(name)) << text;
    }
    void procs(const std::string& group, const std::string& numbers) const {
        write("groups/" + group + "/cgroup.procs", numbers);
    }
    [[nodiscard]] bool deserted(const StepPlace& place) const {
        return is_deserted(place, directory_.path());
    }

    test::TemporaryDirectory directory_;
};

TEST_F(CgroupFiles, tell_a_step_that_only_slurmstepd_is_left_in) {
    mount("cgroup2", "rw");
    const StepPlace place{"", "/scope/job_7/step_extern"};
    procs("scope/job_7/step_extern/slurm", "100\n");
    procs("scope/job_7/step_extern/user", "");
    procs("scope/job_7/step_extern/user/task_0", "101\n");
    EXPECT_FALSE(deserted(place));
    procs("scope/job_7/step_extern/user/task_0", "");
    EXPECT_TRUE(deserted(place));
}

TEST_F(CgroupFiles, tell_it_with_v1_too) {
    mount("cgroup", "rw,freezer");
    const StepPlace place{"freezer", "/slurm_n1/uid_1/job_7/step_extern"};
    procs("slurm_n1/uid_1/job_7", "100\n");
    procs("slurm_n1/uid_1/job_7/step_extern", "101\n");
    EXPECT_FALSE(deserted(place));
    procs("slurm_n1/uid_1/job_7/step_extern", "");
    procs("slurm_n1/uid_1/job_7/step_extern/task_0", "101\n");
    EXPECT_FALSE(deserted(place));
    procs("slurm_n1/uid_1/job_7/step_extern/task_0", "");
    EXPECT_TRUE(deserted(place));
}

TEST_F(CgroupFiles, call_nothing_deserted_that_they_cannot_read) {
    EXPECT_FALSE(deserted({"", "/scope/job_7/step_extern"}));
    mount("cgroup2", "rw");
    EXPECT_FALSE(deserted({"", "/scope/job_7/step_extern"}));
}

}  // namespace
}  // namespace llmgw
