// Where PAM's files are not made from profiles: a block in sshd's own. The programs are answered for; real
// ones are in tests/machines.d/65-login_test.sh.
#include "service/login_access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

constexpr const char* distribution =
    "auth include system\naccount required pam_nologin.so\naccount include system\n";

// Logs in whom the test lets in; everything else succeeds.
class FakeSystem final : public TaskRunner {
  public:
    Result<TaskResult> run(const Task& task, const std::stop_token&) override {
        commands.push_back(task.argv.front() + " " + task.argv.back());
        if (on_run) on_run(task);
        if (task.argv.front() == "/usr/bin/ssh-keygen") {
            std::ofstream(task.argv.back() + ".pub") << "ssh-ed25519 AAAA\n";
            return TaskResult{};
        }
        if (task.argv.front() == "/usr/sbin/userdel")
            return TaskResult{users.erase(task.argv.back()) > 0 ? 0 : 6, ""};
        if (task.argv.front() == "/usr/sbin/useradd") users.insert(task.argv.back());
        if (task.argv.size() > 1 && task.argv[1] == "-T") return TaskResult{0, effective};
        if (task.argv.front() != ssh) return TaskResult{};
        const auto user = std::find(task.argv.begin(), task.argv.end(), "-l") + 1;
        const std::string config = read_file(proof + "/sshd_config", 65536).value();
        const std::string forced = "ForceCommand echo ";
        const std::size_t at = config.find(forced) + forced.size();
        if (let_in.contains(*user)) return TaskResult{0, config.substr(at)};
        return TaskResult{255, refusal};
    }
    std::set<std::string> let_in{"root", "llmgw-proof-admin"};
    std::string refusal =
        "llmgw: login refused on n1: no job of yours runs on this machine\nConnection closed\n";
    std::string effective = "port 22\nforcecommand /libexec/login\n";
    std::string ssh;
    std::string proof;
    std::set<std::string> users;
    std::vector<std::string> commands;
    std::function<void(const Task&)> on_run;
};

class LoginAccessTest : public testing::Test {
  protected:
    LoginAccessTest() {
        std::filesystem::create_directories(directory_.file("pam.d"));
        write("pam.d/sshd", distribution);
        write("pam.d/system", "auth required pam_unix.so\naccount required pam_unix.so\n");
        for (const char* program : {"ssh", "sshd", "module"}) {
            write(program, "x");
            ::chmod(directory_.file(program).c_str(), 0755);
        }
        system_.ssh = directory_.file("ssh");
        system_.proof = directory_.path() + "/login-proof";
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(directory_.file(name)) << text;
    }
    [[nodiscard]] std::string sshd_lines() const {
        return read_file(directory_.file("pam.d/sshd"), 65536).value();
    }
    [[nodiscard]] bool has_lines() const {
        return sshd_lines().find("pam_llmgw_adopt.so") != std::string::npos;
    }
    LoginAccess access(LoginRule rule = LoginRule::job) {
        LoginOptions options;
        options.rule = rule;
        options.login_program = "/libexec/login";
        options.drop_in = directory_.file("login.conf");
        options.state_dir = options.run_dir = directory_.path();
        options.program = "/helper";
        options.module = directory_.file("module");
        options.pam_dir = directory_.file("pam.d");
        options.pam_auth_update = directory_.file("none");
        options.sshd = directory_.file("sshd");
        options.ssh = directory_.file("ssh");
        options.user_manager = directory_.file("user@.service.d/llmgw-slurm.conf");
        return {options, system_};
    }

    test::TemporaryDirectory directory_;
    FakeSystem system_;
};

TEST_F(LoginAccessTest, adds_lines_that_hold_and_takes_them_back) {
    LoginAccess login = access();
    EXPECT_FALSE(login.did_anything());
    EXPECT_FALSE(login.look().added);
    const Result<void> done = login.guard({});
    ASSERT_TRUE(done.ok()) << done.error().message;
    LoginFacts facts = access().look();
    EXPECT_TRUE(facts.added);
    EXPECT_TRUE(facts.proven);
    EXPECT_TRUE(facts.ours);
    EXPECT_TRUE(sshd_lines().starts_with(distribution));
    EXPECT_TRUE(system_.users.empty());
    EXPECT_FALSE(std::filesystem::exists(system_.proof));
    // Set before anything was changed, and ended behind it.
    const auto named = [](const char* text) {
        return [text](const std::string& command) { return command.find(text) != std::string::npos; };
    };
    EXPECT_EQ(std::count_if(system_.commands.begin(), system_.commands.end(), named("--leave-logins")), 1);
    EXPECT_TRUE(system_.commands.back().find("llmgw-slurm-login-rollback.timer") != std::string::npos);

    ASSERT_TRUE(login.leave({}).ok());
    EXPECT_EQ(sshd_lines(), distribution);
    EXPECT_FALSE(login.did_anything());
    EXPECT_FALSE(std::filesystem::exists(directory_.file("user@.service.d")));
}

TEST_F(LoginAccessTest, takes_them_back_when_an_admin_is_locked_out) {
    system_.let_in.erase("llmgw-proof-admin");
    LoginAccess login = access();
    const Result<void> done = login.guard({});
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().message.find("a member of llmgw-slurm was not let in"), std::string::npos)
        << done.error().message;
    EXPECT_EQ(sshd_lines(), distribution);
    EXPECT_TRUE(system_.users.empty());
    // For a while, and only as long as PAM's lines are what they were.
    EXPECT_NE(login.look().failure, "");
    write("pam.d/system", "account required pam_permit.so\n");
    EXPECT_EQ(login.look().failure, "");
}

TEST_F(LoginAccessTest, takes_them_back_when_somebody_without_a_job_gets_in) {
    system_.let_in.insert("llmgw-proof-none");
    const Result<void> done = access().guard({});
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_FALSE(has_lines());
}

TEST_F(LoginAccessTest, takes_them_back_when_it_is_not_our_module_that_refuses) {
    system_.refusal = "Permission denied (publickey).\n";
    const Result<void> done = access().guard({});
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().message.find("not by our module"), std::string::npos) << done.error().message;
    EXPECT_FALSE(has_lines());
}

TEST_F(LoginAccessTest, is_unproven_once_anything_changes) {
    LoginAccess login = access();
    ASSERT_TRUE(login.guard({}).ok());
    write("pam.d/system", "account sufficient pam_permit.so\n");
    EXPECT_TRUE(login.look().added);
    EXPECT_FALSE(login.look().proven);
    ASSERT_TRUE(login.guard({}).ok());
    EXPECT_TRUE(login.look().proven);
    write("module", "another");
    EXPECT_FALSE(login.look().proven);
    std::filesystem::remove(directory_.file("user@.service.d/llmgw-slurm.conf"));
    ASSERT_TRUE(login.guard({}).ok());
    EXPECT_TRUE(std::filesystem::exists(directory_.file("user@.service.d/llmgw-slurm.conf")));
}

TEST_F(LoginAccessTest, has_sshd_start_the_program_that_enters_containers) {
    ASSERT_TRUE(access(LoginRule::container).guard({}).ok());
    EXPECT_TRUE(access(LoginRule::container).look().proven);
    const Result<std::string> drop_in = read_file(directory_.file("login.conf"), 4096);
    ASSERT_TRUE(drop_in.ok());
    EXPECT_NE(drop_in.value().find("ForceCommand /libexec/login\n"), std::string::npos);
    EXPECT_NE(sshd_lines().find("pam_llmgw_adopt.so container=join"), std::string::npos);
    // Another rule: its own lines, and none for containers.
    LoginAccess job = access();
    EXPECT_FALSE(job.look().added);
    ASSERT_TRUE(job.guard({}).ok());
    EXPECT_FALSE(std::filesystem::exists(directory_.file("login.conf")));
    EXPECT_EQ(sshd_lines().find("container=join"), std::string::npos);
    ASSERT_TRUE(access(LoginRule::container).guard({}).ok());
    ASSERT_TRUE(access(LoginRule::container).leave({}).ok());
    EXPECT_FALSE(std::filesystem::exists(directory_.file("login.conf")));
    EXPECT_EQ(sshd_lines(), distribution);
}

TEST_F(LoginAccessTest, takes_everything_back_when_sshd_does_not_start_that_program) {
    system_.effective = "port 22\nforcecommand /site\n";
    const Result<void> done = access(LoginRule::container).guard({});
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().message.find("another file sets ForceCommand"), std::string::npos)
        << done.error().message;
    EXPECT_FALSE(std::filesystem::exists(directory_.file("login.conf")));
    EXPECT_EQ(sshd_lines(), distribution);
}

// A helper that was killed in the middle: its successor knows that there is something to end.
TEST_F(LoginAccessTest, is_known_to_be_unfinished_after_a_crash) {
    system_.on_run = [&](const Task& task) {
        if (task.argv.front() == system_.ssh) throw std::runtime_error("killed");
    };
    EXPECT_THROW(static_cast<void>(access().guard({})), std::runtime_error);
    system_.on_run = nullptr;
    const LoginFacts facts = access().look();
    EXPECT_TRUE(facts.ours);
    EXPECT_FALSE(facts.proven);
    ASSERT_TRUE(access().leave({}).ok());
    EXPECT_EQ(sshd_lines(), distribution);
    EXPECT_TRUE(system_.users.empty());
}

TEST_F(LoginAccessTest, keeps_what_others_change_in_the_same_file) {
    LoginAccess login = access();
    ASSERT_TRUE(login.guard({}).ok());
    write("pam.d/sshd", "session optional pam_motd.so\n" + sshd_lines());
    ASSERT_TRUE(login.leave({}).ok());
    EXPECT_EQ(sshd_lines(), std::string("session optional pam_motd.so\n") + distribution);
}

}  // namespace
}  // namespace llmgw::service
