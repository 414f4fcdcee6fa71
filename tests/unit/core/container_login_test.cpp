#include "core/container_login.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace llmgw {
namespace {

using Words = std::vector<std::string>;

// As the kernel keeps an environment.
std::string kept(const Words& entries) {
    std::string text;
    for (const std::string& entry : entries) text += entry + '\0';
    return text;
}

TEST(LoginRequest, is_not_made_of_words_that_are_not_known) {
    for (const Words& words : {Words{"x", "-c"}, Words{"x", "-l"}, Words{"x", "--help"},
                               Words{"x", "-c", "a", "b"}, Words{"x", "a"}}) {
        EXPECT_FALSE(login_request(words, {"SSH_ORIGINAL_COMMAND=true"}));
    }
}

TEST(LoginRequest, of_a_login_shell_is_in_its_words) {
    const Words environment{"SSH_ORIGINAL_COMMAND=other"};
    EXPECT_EQ(login_request({"x", "-c", "a b"}, environment), (LoginRequest{"a b", false}));
    EXPECT_EQ(login_request({"-x"}, environment), (LoginRequest{std::nullopt, false}));
}

TEST(LoginRequest, of_a_forced_command_is_in_the_environment) {
    EXPECT_EQ(login_request({"/usr/x"}, {"SSH_ORIGINAL_COMMAND=a b"}), (LoginRequest{"a b", true}));
    EXPECT_EQ(login_request({"/usr/x"}, {"SSH_ORIGINAL_COMMAND="}), (LoginRequest{std::nullopt, true}));
    EXPECT_EQ(login_request({"/usr/x"}, {}), (LoginRequest{std::nullopt, true}));
}

TEST(Shells, begin_with_the_users_own_but_never_with_the_program_itself) {
    EXPECT_EQ(shells({"SHELL=/usr/bin/zsh"}, "me"), (Words{"/usr/bin/zsh", "/bin/bash", "/bin/sh"}));
    EXPECT_EQ(shells({"SHELL=/bin/sh"}, "me"), (Words{"/bin/sh", "/bin/bash"}));
    for (const char* other : {"SHELL=/usr/libexec/me", "SHELL=", "SHELL=zsh", "SHELLS=/usr/bin/zsh"}) {
        EXPECT_EQ(shells({other}, "me"), (Words{"/bin/bash", "/bin/sh"})) << other;
    }
}

TEST(Variables, are_looked_up_set_and_left_out_by_their_whole_names) {
    const Words environment{"A=1", "AB=2", "C=x=y", "D", "=E"};
    EXPECT_EQ(variable(environment, "A"), "1");
    EXPECT_EQ(variable(environment, "C"), "x=y");
    for (const char* none : {"B", "D", "", "E"}) EXPECT_EQ(variable(environment, none), "") << none;
    EXPECT_EQ(with_variable({"A=1", "AB=2"}, "A", "3"), (Words{"AB=2", "A=3"}));
    EXPECT_EQ(without_variables({"A=1", "AB=2", "C=3"}, {"A", "C"}), Words{"AB=2"});
}

TEST(ContainerEnvironment, leaves_out_what_belongs_to_one_step_or_task) {
    const Words given{"SLURM_STEP_ID=0",
                      "SLURM_STEPID=0",
                      "SLURM_STEP_NODELIST=n1",
                      "SLURM_PROCID=0",
                      "SLURM_LOCALID=0",
                      "SLURM_TASK_PID=7",
                      "SLURM_GTIDS=0",
                      "SLURM_LAUNCH_NODE_IPADDR=192.0.2.1",
                      "SLURM_SRUN_COMM_HOST=x",
                      "SLURM_SRUN_COMM_PORT=1",
                      "PMI_RANK=0",
                      "PMIX_RANK=0",
                      "PMI2_RANK=0",
                      "OMPI_COMM_WORLD_RANK=0",
                      "PYXIS_CONTAINER_IMAGE=x",
                      "ENROOT_RUNTIME_PATH=/x",
                      "PWD=/x",
                      "_=/bin/x",
                      "no variable",
                      "=x",
                      ""};
    EXPECT_EQ(container_environment(kept(given), {"PATH=/mine", "EDITOR=vi"}),
              (Words{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}));
}

TEST(ContainerEnvironment, is_the_containers_with_what_the_login_knows_of_itself) {
    const Words login{"TERM=xterm",   "LANG=C.UTF-8",   "LC_ALL=C",   "SSH_TTY=/dev/pts/1",
                      "HOME=/home/u", "SLURM_JOB_ID=5", "PATH=/host", "LD_PRELOAD=/x",
                      "USER=u",       "SHELL=/bin/zsh"};
    const Words process{"PATH=/opt/image/bin", "TERM=dumb",      "LANG=de",        "SSH_CONNECTION=old",
                        "HOME=/root",          "SLURM_JOB_ID=5", "SLURM_NTASKS=8", "CUDA_VISIBLE_DEVICES=0",
                        "PATH=/second"};
    Words made = container_environment(kept(process), login);
    std::sort(made.begin(), made.end());
    EXPECT_EQ(made, (Words{"CUDA_VISIBLE_DEVICES=0", "HOME=/home/u", "LANG=C.UTF-8", "LC_ALL=C",
                           "PATH=/opt/image/bin", "SLURM_JOB_ID=5", "SLURM_NTASKS=8", "SSH_TTY=/dev/pts/1",
                           "TERM=xterm", "USER=u"}));
}

TEST(SftpRequest, is_no_other_command) {
    for (const char* command :
         {"", " ", "sftp-server", "echo /usr/lib/sftp-server", "internal-sftp2", "xinternal-sftp",
          "/usr/lib/sftp-server2", "/usr/lib/xsftp-server", "/usr/lib/sftp-server;id", "scp -t /tmp"}) {
        EXPECT_FALSE(sftp_request(command)) << command;
    }
}

TEST(SftpRequest, is_for_a_server_of_the_hosts) {
    const Words usual{"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server",
                      "/usr/lib/ssh/sftp-server"};
    EXPECT_EQ(sftp_request("internal-sftp"), (SftpRequest{usual, {}}));
    EXPECT_EQ(sftp_request(" internal-sftp  -l INFO"), (SftpRequest{usual, {"-l", "INFO"}}));
    EXPECT_EQ(sftp_request("/usr/lib/openssh/sftp-server -R"), (SftpRequest{usual, {"-R"}}));
    EXPECT_EQ(sftp_request("/opt/sftp-server")->servers.front(), "/opt/sftp-server");
    EXPECT_EQ(sftp_request("/opt/sftp-server")->servers.size(), 4U);
}

}  // namespace
}  // namespace llmgw
