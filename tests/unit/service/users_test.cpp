#include "service/users.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "posix/file.hpp"
#include "posix/user_database.hpp"
#include "service/homes_task.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;

// Runs the homes' task in this process, or says that it failed.
class FakeRunner final : public TaskRunner {
  public:
    Result<TaskResult> run(const Task& task, const std::stop_token&) override {
        ++runs;
        order = read_file(task.argv.at(2), 1 << 20).value();
        return TaskResult{output.ends_with("all looked at\n") ? 0 : 1, output};
    }
    int runs = 0;
    std::string order;
    std::string output = "all looked at\n";
};

class UsersTest : public testing::Test {
  protected:
    UsersTest() {
        fs::create_directories(root_ + "/etc/ssh");
        fs::create_directories(root_ + "/state");
        put("passwd", "root:x:0:0::/root:/bin/sh\nsite:x:1000:1000::/home/site:/bin/sh\n");
        put("group", "root:x:0:\nsite:x:1000:\n");
        put("shadow", "root:*:1::::::\nsite:secret:1::::::\n");
        ::chmod((root_ + "/etc/shadow").c_str(), 0640);
        settings_.enabled = true;
        settings_.controller = "n1";
        settings_.users = llmgw::Users::llmgw;
        settings_.home_directory = root_ + "/home";
        start();
    }
    void start() {
        UsersOptions options;
        options.root = root_;
        options.state_dir = root_ + "/state";
        options.machine = "n1";
        options.program = "/helper";
        users_ = std::make_unique<service::Users>(options, runner_);
    }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(root_ + "/etc/" + name) << text;
    }
    std::string text(const std::string& name) const {
        std::ostringstream all;
        all << std::ifstream(root_ + "/etc/" + name).rdbuf();
        return all.str();
    }
    UsersOutcome apply() {
        const Result<UsersOutcome> outcome = users_->apply(settings_, {});
        EXPECT_TRUE(outcome.ok()) << outcome.error().message;
        return outcome ? outcome.value() : UsersOutcome{};
    }
    static Account account(const std::string& email, Uid uid, bool active = true) {
        return {email, uid, active, {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Sy8Nu7sEXqRbDf3Xe0PvvBDTsjXy1RAdHAZwKXNHR " + email}};
    }
    static constexpr const char* keys = "ssh/llmgw-slurm/keys/";

    test::TemporaryDirectory directory_;
    const std::string root_ = directory_.path();
    ResolvedSettings settings_;
    FakeRunner runner_;
    std::unique_ptr<service::Users> users_;
};

TEST_F(UsersTest, does_nothing_without_accounts) {
    const std::string before = text("passwd");
    EXPECT_EQ(users_->apply(settings_, {}).error().code, Code::unavailable);
    EXPECT_EQ(users_->plan(settings_).error().code, Code::unavailable);
    EXPECT_EQ(text("passwd"), before);
    EXPECT_FALSE(users_->did_anything());
}

TEST_F(UsersTest, makes_users_and_nothing_the_second_time) {
    EXPECT_TRUE(users_->take({account("ann@x.org", 200000), account("bob@x.org", 200001, false)}));
    EXPECT_FALSE(users_->take({account("ann@x.org", 200000), account("bob@x.org", 200001, false)}));
    const UsersOutcome outcome = apply();
    EXPECT_EQ(outcome.present.text(100), "200000-200001");
    EXPECT_EQ(outcome.active, 1U);
    EXPECT_TRUE(
        text("passwd").ends_with("\nann:x:200000:200000:ann@x.org:" + root_ + "/home/ann:/bin/bash\n"));
    EXPECT_NE(text("shadow").find("\nann:*:"), std::string::npos);
    EXPECT_NE(text("group").find("\nann:x:200000:\n"), std::string::npos);
    EXPECT_EQ(text(keys + std::string("ann")), account("ann@x.org", 0).ssh_keys[0] + "\n");
    EXPECT_EQ(runner_.order, "\n" + root_ + "/home\nann 200000\n");
    struct stat status {};
    ASSERT_EQ(::stat((root_ + "/etc/shadow").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640U);
    const FileStamp stamp = stamp_of(root_ + "/etc/passwd").value();
    EXPECT_EQ(apply().changes, 0U);
    EXPECT_EQ(runner_.runs, 1);
    EXPECT_EQ(stamp_of(root_ + "/etc/passwd").value(), stamp);
    EXPECT_TRUE(users_->plan(settings_).value().nothing_to_do());
    EXPECT_TRUE(users_->did_anything());
}

TEST_F(UsersTest, knows_after_a_start_what_it_knew) {
    users_->take({account("ann@x.org", 200000)});
    apply();
    start();
    EXPECT_TRUE(users_->has_accounts());
    EXPECT_EQ(apply().changes, 0U);
    EXPECT_EQ(runner_.runs, 1);
}

TEST_F(UsersTest, locks_unlocks_and_takes_keys_away) {
    users_->take({account("ann@x.org", 200000)});
    apply();
    const std::string active = text("shadow");
    users_->take({account("ann@x.org", 200000, false)});
    EXPECT_EQ(apply().changes, 2U);
    EXPECT_NE(text("shadow").find("\nann:!*:"), std::string::npos);
    EXPECT_FALSE(fs::exists(root_ + "/etc/" + keys + "ann"));
    users_->take({account("ann@x.org", 200000)});
    apply();
    EXPECT_EQ(text("shadow"), active);
    EXPECT_TRUE(fs::exists(root_ + "/etc/" + keys + "ann"));
}

TEST_F(UsersTest, refuses_and_changes_nothing_of_others) {
    put("passwd", text("passwd") + "ann:x:1001:1001::/home/ann:/bin/sh\n");
    const std::string before = text("passwd");
    users_->take({account("ann@x.org", 200000)});
    const UsersOutcome outcome = apply();
    ASSERT_EQ(outcome.refused.size(), 1U);
    EXPECT_TRUE(outcome.present.empty());
    EXPECT_EQ(text("passwd"), before);
    EXPECT_FALSE(fs::exists(root_ + "/etc/" + keys + "ann"));
}

TEST_F(UsersTest, who_has_no_home_is_not_there_and_it_is_tried_again) {
    users_->take({account("ann@x.org", 200000), account("bob@x.org", 200001)});
    settings_.shared = SharedSource::nfs;
    settings_.shared_path = root_ + "/shared";
    runner_.output = "ann: cannot make it: Permission denied\nall looked at\n";
    const UsersOutcome outcome = apply();
    EXPECT_EQ(outcome.present.text(100), "200001");
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_NE(outcome.problems[0].find("no_root_squash"), std::string::npos);
    EXPECT_EQ(runner_.order.substr(0, runner_.order.find('\n')), root_ + "/shared");
    runner_.output = "nothing is mounted on /shared\n";
    EXPECT_NE(apply().problems.front().find("nothing is mounted"), std::string::npos);
    EXPECT_EQ(runner_.order.find("bob"), std::string::npos);
    runner_.output = "all looked at\n";
    EXPECT_EQ(apply().present.text(100), "200000-200001");
}

TEST_F(UsersTest, homes_are_made_where_root_may) {
    users_->take({account("ann@x.org", 200000)});
    settings_.shared = SharedSource::server;
    settings_.shared_server = "n2";
    apply();
    EXPECT_EQ(runner_.runs, 0);
    settings_.shared_server = "n1";
    apply();
    EXPECT_EQ(runner_.runs, 1);
}

TEST_F(UsersTest, takes_everything_back_and_remembers_the_numbers) {
    const std::string passwd = text("passwd");
    const std::string group = text("group");
    users_->take({account("ann@x.org", 200000)});
    apply();
    const Result<std::vector<std::string>> left = users_->remove({});
    ASSERT_TRUE(left.ok()) << left.error().message;
    EXPECT_EQ(left.value().size(), 1U);
    EXPECT_EQ(text("passwd"), passwd);
    EXPECT_EQ(text("group"), group);
    EXPECT_FALSE(fs::exists(root_ + "/etc/ssh/llmgw-slurm/keys"));
    EXPECT_FALSE(users_->did_anything());
    users_->take({account("zoe@x.org", 200000)});
    EXPECT_EQ(apply().refused.size(), 1U);
}

TEST_F(UsersTest, a_damaged_record_stops_everything) {
    users_->take({account("ann@x.org", 200000)});
    std::ofstream(root_ + "/state/users.json") << "{";
    const Result<UsersOutcome> outcome = users_->apply(settings_, {});
    ASSERT_FALSE(outcome.ok());
    EXPECT_NE(outcome.error().message.find("is damaged"), std::string::npos);
    EXPECT_EQ(text("passwd").find("ann"), std::string::npos);
}

// The figures that matter are the machines' (tests/machines.d); this keeps them from getting lost.
TEST_F(UsersTest, five_hundred_are_one_change_of_each_file) {
    std::vector<Account> many;
    for (Uid i = 0; i < 500; ++i) many.push_back(account("user" + std::to_string(i) + "@x.org", 200000 + i));
    users_->take(many);
    EXPECT_EQ(apply().present.text(100), "200000-200499");
    EXPECT_EQ(runner_.runs, 1);
    many[7].active = false;
    users_->take(many);
    EXPECT_EQ(apply().changes, 2U);
    EXPECT_EQ(runner_.runs, 1);
}

TEST(MakeHomesHere, makes_each_and_says_which_not) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    test::TemporaryDirectory directory;
    std::ofstream(directory.file("order")) << "\n"
                                           << directory.file("home") << "\nann 200000\nroot 0\nbob 200001\n";
    fs::create_directories(directory.file("home/bob"));
    testing::internal::CaptureStdout();
    EXPECT_EQ(make_homes_here(directory.file("order")), 0);
    const std::string said = testing::internal::GetCapturedStdout();
    EXPECT_NE(said.find("bob: "), std::string::npos);
    EXPECT_TRUE(said.ends_with("all looked at\n"));
    EXPECT_TRUE(fs::exists(directory.file("home/ann")));
    EXPECT_FALSE(fs::exists(directory.file("home/root")));
    std::ofstream(directory.file("order")) << "/\n" << directory.file("home") << "\nzoe 200002\n";
    testing::internal::CaptureStdout();
    EXPECT_EQ(make_homes_here(directory.file("order")), 1);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "nothing is mounted on /\n");
    EXPECT_FALSE(fs::exists(directory.file("home/zoe")));
}

}  // namespace
}  // namespace llmgw::service
