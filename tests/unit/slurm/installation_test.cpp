#include "slurm/installation.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace llmgw::slurm {
namespace {

TEST(VersionIn, what_slurm_s_programs_print) {
    EXPECT_EQ(version_in("slurm-wlm 22.05.8\n"), "22.05.8");  // Debian 12
    EXPECT_EQ(version_in("slurm-wlm 24.11.5\n"), "24.11.5");  // Debian 13
    EXPECT_EQ(version_in("slurm 24.11.5\n"), "24.11.5");      // SchedMD's packages, from source
    EXPECT_EQ(version_in("slurm 26.05.0\n"), "26.05.0");
    EXPECT_EQ(version_in("slurm 23.11.10-2"), "23.11.10-2");
    EXPECT_EQ(version_in("slurm 24.11.0-0rc1\n"), "24.11.0-0rc1");
    EXPECT_EQ(version_in("slurm 23.02.0-0pre1\n"), "23.02.0-0pre1");
}

// Standard error comes with it.
TEST(VersionIn, an_output_with_other_lines_around) {
    EXPECT_EQ(version_in("slurmd: error: Couldn't find the specified plugin name for cred/munge\n"
                         "slurm-wlm 22.05.8\n"),
              "22.05.8");
    EXPECT_EQ(version_in("slurm 24.11.5\r\nbye\n"), "24.11.5");
}

TEST(VersionIn, nothing_where_there_is_none) {
    for (const char* output :
         {"", "\n", "slurm", "slurm \n", "slurm -\n", "slurm rc\n", "slurm unknown", "usage: slurmd 1.2 x\n",
          "sh: 1: slurmd: not found\n", "slurm 22.05.8; rm -rf /\n", "22.05.8\n",
          "srun: fatal: Could not establish a configuration source\n"}) {
        EXPECT_EQ(version_in(output), "") << output;
    }
}

TEST(FindInstallation, says_what_runs_here_or_why_it_does_not_know) {
    const Result<Installation> found = find_installation("/some/libslurmfull.so");
    if (::access("/usr/sbin/slurmd", X_OK) != 0) GTEST_SKIP() << "no slurmd here";
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found.value().program, "/usr/sbin/slurmd");
    EXPECT_EQ(found.value().library, "/some/libslurmfull.so");
    EXPECT_EQ(found.value().version.find_first_not_of("0123456789.-rcpe"), std::string::npos);
    const Result<Installation> looked = find_installation("");
    ASSERT_TRUE(looked.ok()) << looked.error().message;
    EXPECT_EQ(::access(looked.value().library.c_str(), R_OK), 0);
}

}  // namespace
}  // namespace llmgw::slurm
