// llmgw's accounts, from the leader to the machine's users, the report and what the gate reads.
#include <fstream>
#include <sstream>

#include "core/users_state.hpp"
#include "daemon/helper.hpp"
#include "unit/daemon/on_machine.hpp"

namespace llmgw::daemon {
namespace {

using test::eventually;

// Homes are not what this is about.
class HomesAreMade final : public TaskRunner {
  public:
    Result<TaskResult> run(const Task&, const std::stop_token&) override {
        return TaskResult{0, "all looked at\n"};
    }
};

class HelperUsersTest : public HelperTest {
  protected:
    void SetUp() override {
        HelperTest::SetUp();
        std::filesystem::create_directories(machine_.at("root/etc/ssh"));
        for (const char* file : {"passwd", "group", "shadow"})
            machine_.put(std::string("root/etc/") + file, "root:x:0:0::/root:/bin/sh\n");
        settings(R"({"enabled":true,"controller":"n1","nodes":["n1"],"users":"llmgw"})");
        leader_->reload_settings();
    }
    void TearDown() override {
        stop();
        users_.reset();
    }
    void accounts(const std::string& text) {
        machine_.put("leader/accounts.json", text);
        leader_->reload_accounts();
    }
    void start_with_users() {
        service::UsersOptions options;
        options.root = machine_.at("root");
        options.state_dir = machine_.at("state");
        options.machine = "n1";
        users_ = std::make_unique<service::Users>(options, runner_);
        thread_ = std::make_unique<test::LoopThread>();
        helper_ = std::make_unique<Helper>(options_, WantedVersions{"0.24.0", "4.2.1"}, nullptr,
                                           thread_->loop(), thread_->mailbox(), users_.get());
        thread_->mailbox().post([this] { helper_->start({[this] { ++changes_; }}); });
        thread_->start();
    }
    bool passwd_has(const std::string& part) const {
        std::ostringstream text;
        text << std::ifstream(machine_.at("root/etc/passwd")).rdbuf();
        return text.str().find(part) != std::string::npos;
    }
    std::optional<UsersState> state() const {
        const Result<StateFile> file = read_state_file(machine_.at("run/users"), limits::users_file_bytes);
        if (!file) return std::nullopt;
        const Result<UsersState> parsed = parse_users_state(file.value().content);
        return parsed ? std::optional<UsersState>(parsed.value()) : std::nullopt;
    }
    bool everywhere(const std::string& uids) {
        return eventually([&] { return state() && state()->everywhere.text(1000) == uids; });
    }

    HomesAreMade runner_;
    std::unique_ptr<service::Users> users_;
};

constexpr const char* ann = R"({"email":"ann@x.org","uid":200000,"active":true})";
constexpr const char* bob = R"({"email":"bob@x.org","uid":200001,"active":true})";

TEST_F(HelperUsersTest, makes_them_and_lets_them_submit) {
    accounts("[" + std::string(ann) + "]");
    start_with_users();
    EXPECT_TRUE(eventually([&] { return passwd_has("\nann:x:200000:200000:"); }));
    EXPECT_TRUE(everywhere("200000"));
    EXPECT_EQ(described("users", "llmgw"), "yes");
    accounts("[" + std::string(ann) + "," + bob + "]");
    EXPECT_TRUE(everywhere("200000-200001"));
    EXPECT_TRUE(passwd_has("\nbob:x:200001:200001:"));
}

TEST_F(HelperUsersTest, shows_who_was_refused_and_does_not_gate_them) {
    machine_.put("root/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n");
    accounts("[" + std::string(ann) + "," + bob + "]");
    start_with_users();
    EXPECT_TRUE(everywhere("200001"));
    EXPECT_EQ(state()->ours.text(100), "200001");
    const Value status = description();
    const Value* refused = status.find("users")->find("refused");
    ASSERT_EQ(refused->array()->size(), 1U);
    EXPECT_NE(refused->array()->front().text()->find("a user ann is there already"), std::string::npos);
}

TEST_F(HelperUsersTest, wrong_accounts_are_told_and_the_last_good_ones_hold) {
    accounts("[" + std::string(ann) + "]");
    start_with_users();
    ASSERT_TRUE(everywhere("200000"));
    accounts(R"([{"email":"x","uid":200000,"active":true}])");
    EXPECT_TRUE(eventually(
        [&] { return described("users", "accounts_problem").find("[0].email") != std::string::npos; }));
    EXPECT_TRUE(passwd_has("\nann:"));
    EXPECT_EQ(state()->everywhere.text(100), "200000");
    accounts("[" + std::string(ann) + "]");
    EXPECT_TRUE(eventually([&] { return described("users", "accounts_problem").empty(); }));
}

TEST_F(HelperUsersTest, a_site_with_users_of_its_own_is_left_alone) {
    settings(one_machine);
    leader_->reload_settings();
    accounts("[" + std::string(ann) + "]");
    machine_.put("run/users", "left by an earlier helper");
    start_with_users();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(machine_.at("run/users")); }));
    EXPECT_FALSE(passwd_has("ann"));
    EXPECT_EQ(described("users", "llmgw"), "no");
}

TEST_F(HelperUsersTest, goes_by_the_accounts_of_last_time_without_a_leader) {
    accounts("[" + std::string(ann) + "]");
    start_with_users();
    ASSERT_TRUE(everywhere("200000"));
    stop();
    leader_.reset();
    machine_.put("root/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    start_with_users();
    EXPECT_TRUE(eventually([&] { return passwd_has("\nann:x:200000:"); }));
    // What was decided stands: whoever could submit still can.
    EXPECT_EQ(state()->everywhere.text(100), "200000");
}

TEST_F(HelperUsersTest, an_admins_hand_lets_everybody_through) {
    accounts("[" + std::string(ann) + "]");
    start_with_users();
    ASSERT_TRUE(everywhere("200000"));
    ASSERT_TRUE(set_gate("open").ok());
    EXPECT_TRUE(eventually([&] { return state() && state()->open; }));
    ASSERT_TRUE(set_gate("auto").ok());
    EXPECT_TRUE(eventually([&] { return state() && !state()->open; }));
}

}  // namespace
}  // namespace llmgw::daemon
