// The module itself under the real libpam, with lines of its own in a directory of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fake_slurmstepd.hpp"
#include "pam_api.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

std::vector<std::string>* said;

int listen_to(int count, const pam_message** messages, pam_response** answers, void*) {
    for (int i = 0; i < count; ++i) said->emplace_back(messages[i]->msg);
    *answers = static_cast<pam_response*>(std::calloc(static_cast<std::size_t>(count), sizeof(pam_response)));
    return PAM_SUCCESS;
}

class Module : public testing::Test {
  protected:
    Module() { said = &messages; }

    // A login of `user`: what the account phase says, and after it the session phase.
    int account(const std::string& user, const std::string& words, const std::string& service = "sshd") {
        std::ofstream(place.file(service))
            << "account required " PAM_MODULE " " << words << "\nsession required " << PAM_MODULE " " << words
            << "\naccount required pam_permit.so\n"
            << "session required pam_permit.so\n";
        messages.clear();
        const pam_conv conversation{listen_to, nullptr};
        pam_handle_t* pam = nullptr;
        const int started =
            pam_start_confdir(service.c_str(), user.c_str(), &conversation, place.path().c_str(), &pam);
        if (started != PAM_SUCCESS) return -1;
        const int account = pam_acct_mgmt(pam, 0);
        session = pam_open_session(pam, 0);
        pam_end(pam, account);
        return account;
    }
    [[nodiscard]] std::string node() const { return "role=node wait=0 spool=" + place.file("spool"); }
    [[nodiscard]] bool was_told(const std::string& part) const {
        for (const std::string& message : messages) {
            if (message.find(part) != std::string::npos) return true;
        }
        return false;
    }

    void SetUp() override { std::filesystem::create_directory(place.file("spool")); }

    test::TemporaryDirectory place;
    std::vector<std::string> messages;
    int session = -1;
};

constexpr const char* user = "nobody";

TEST_F(Module, keeps_out_a_user_without_a_job) {
    EXPECT_EQ(account(user, node()), PAM_PERM_DENIED);
    EXPECT_EQ(session, PAM_SESSION_ERR);
    EXPECT_TRUE(was_told("llmgw: login refused on"));
    EXPECT_TRUE(was_told("no job of yours"));
}

TEST_F(Module, keeps_out_a_user_who_cannot_be_looked_up) {
    EXPECT_EQ(account("no-such-user", node()), PAM_PERM_DENIED);
    EXPECT_TRUE(was_told("can't be looked up"));
}

TEST_F(Module, keeps_out_users_when_an_argument_is_none) {
    EXPECT_EQ(account(user, "role=none wiat=1"), PAM_PERM_DENIED);
    EXPECT_TRUE(was_told("\"wiat=1\""));
}

TEST_F(Module, keeps_out_users_when_slurms_library_is_gone) {
    const fake::Slurmstepd step(place.file("spool"), 5, {});
    EXPECT_EQ(account(user, node() + " library=/nonexistent/libslurm.so.38"), PAM_PERM_DENIED);
    EXPECT_TRUE(was_told("libslurm.so.38"));
}

TEST_F(Module, keeps_out_a_user_whose_job_is_not_known_by_cgroups) {
    fake::Slurmstepd::Answers answers;
    answers.uid = static_cast<std::int32_t>(::getpwnam(user)->pw_uid);
    const fake::Slurmstepd step(place.file("spool"), 5, answers);
    EXPECT_EQ(account(user, node() + " library=" FAKE_LIBSLURM_38), PAM_PERM_DENIED);
    EXPECT_TRUE(was_told("proctrack/cgroup"));
    EXPECT_EQ(step.adopted(), 0);
}

TEST_F(Module, is_not_steered_by_variables) {
    for (const char* name : {"SLURM_CONF", "SLURM_JOB_ID", "LD_LIBRARY_PATH", "SLURMD_NODENAME"}) {
        ::setenv(name, place.path().c_str(), 1);
    }
    std::ofstream(place.file("slurm.conf")) << "SlurmctldHost=" << std::string(64, 'x') << "\n";
    EXPECT_EQ(account(user, node()), PAM_PERM_DENIED);
    for (const char* name : {"SLURM_CONF", "SLURM_JOB_ID", "LD_LIBRARY_PATH", "SLURMD_NODENAME"})
        ::unsetenv(name);
}

TEST_F(Module, lets_root_and_admins_in_whatever_is_broken) {
    const std::string broken = "wiat=1 library=/nonexistent conf=/nonexistent role=node";
    EXPECT_EQ(account("root", broken), PAM_SUCCESS);
    EXPECT_EQ(session, PAM_SUCCESS);
    EXPECT_TRUE(messages.empty());
    // Its own group: everybody is of one.
    EXPECT_EQ(account(user, broken + " admin_group=nogroup"), PAM_SUCCESS);
    EXPECT_EQ(account(user, broken + " admin_group=no-such-group admin_group=nogroup"), PAM_SUCCESS);
    EXPECT_EQ(account(user, broken + " admin_group=no-such-group"), PAM_PERM_DENIED);
    EXPECT_EQ(account(user, broken + " admin_group=root"), PAM_PERM_DENIED);
}

TEST_F(Module, is_for_sshd_unless_told_otherwise) {
    EXPECT_EQ(account(user, node(), "su"), PAM_SUCCESS);
    EXPECT_EQ(account(user, node() + " service=login,su", "su"), PAM_PERM_DENIED);
    EXPECT_EQ(account(user, node() + " service=su", "sshd"), PAM_SUCCESS);
    EXPECT_EQ(account(user, node() + " service=sshd2,xsshd", "sshd"), PAM_SUCCESS);
}

TEST_F(Module, is_inert_on_a_host_without_slurmd_and_on_a_controller) {
    std::ofstream(place.file("slurm.conf"))
        << "SlurmctldHost=some-host\nSlurmdSpoolDir=" << place.file("spool") << "\n";
    const std::string words = "wait=0 conf=" + place.file("slurm.conf");
    EXPECT_EQ(account(user, words), PAM_SUCCESS);
    std::ofstream(place.file("spool/cred_state")) << "";
    EXPECT_EQ(account(user, words), PAM_PERM_DENIED);
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    std::ofstream(place.file("slurm.conf"), std::ios::app)
        << "SlurmctldHost=" << host.data() << "(192.0.2.1)\n";
    EXPECT_EQ(account(user, words), PAM_SUCCESS);
    EXPECT_EQ(account(user, words + " role=node"), PAM_PERM_DENIED);
}

TEST_F(Module, keeps_no_descriptor_in_the_process) {
    account(user, node());
    const auto count = [] {
        const auto files = std::filesystem::directory_iterator("/proc/self/fd");
        return std::distance(begin(files), end(files));
    };
    const fake::Slurmstepd step(place.file("spool"), 5, {});
    const auto before = count();
    for (int i = 0; i < 3; ++i) account(user, node() + " library=" FAKE_LIBSLURM_38);
    EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace llmgw
