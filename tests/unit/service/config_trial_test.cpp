#include "service/config_trial.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

class ConfigTrial : public testing::Test {
  protected:
    // Stands for slurmctld: a script that gets "-D -f FILE".
    int tried(const std::string& script) {
        const std::string program = directory_.file("slurmctld");
        std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
        ::chmod(program.c_str(), 0755);
        testing::internal::CaptureStdout();
        const int code = try_config_here(directory_.path(), program);
        output_ = testing::internal::GetCapturedStdout();
        return code;
    }
    test::TemporaryDirectory directory_;
    std::string output_;
};

TEST_F(ConfigTrial, one_that_ends_has_refused_it_and_said_why) {
    EXPECT_EQ(tried("echo 'slurmctld: fatal: Unable to process configuration file' >&2; exit 1"), 1);
    EXPECT_EQ(output_, "slurmctld: fatal: Unable to process configuration file\n");
    EXPECT_EQ(tried("exit 0"), 1);
}

TEST_F(ConfigTrial, one_that_serves_has_taken_it_and_is_ended_with_all_it_started) {
    std::ofstream(directory_.file("slurm.conf")) << "ClusterName=x\n";
    EXPECT_EQ(tried("cat \"$3\"; sleep 1000 & echo $! >" + directory_.file("child") +
                    "; echo 'slurmctld: Running as primary controller'; exec sleep 1000"),
              0);
    EXPECT_NE(output_.find("ClusterName=x"), std::string::npos);
    pid_t child = 0;
    std::ifstream(directory_.file("child")) >> child;
    ASSERT_GT(child, 0);
    EXPECT_TRUE(test::eventually([&] {
        std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
        std::string text;
        std::getline(stat, text);
        return text.empty() || text.find(") Z") != std::string::npos;
    }));
}

TEST_F(ConfigTrial, without_a_slurmctld_there_is_none) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(try_config_here(directory_.path(), directory_.file("nothing")), 2);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace llmgw::service
