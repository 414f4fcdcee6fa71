#include "core/users_plan.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Kind = UserChange::Kind;

constexpr const char* key = "ssh-ed25519 AAAA ann";

// A machine that is played through: what a plan says is done to its files and its record.
class UsersPlanTest : public testing::Test {
  protected:
    UsersPlanTest() {
        files_ = {"root:x:0:0::/root:/bin/sh\nsite:x:1000:1000::/home/site:/bin/sh\n",
                  "root:x:0:\nsite:x:1000:\n",
                  "root:*:1::::::\nsite:*:1::::::\n",
                  "root:*::\nsite:!::\n",
                  "",
                  ""};
        accounts_ = {{"ann@x.org", 200000, true, {key}}, {"bob@x.org", 200001, true, {}}};
    }

    UsersFacts facts() const {
        UsersFacts facts;
        facts.known = index_of(files_);
        facts.record = record_;
        facts.home_directory = home_;
        facts.makes_homes = makes_homes_;
        facts.keys = keys_;
        facts.elsewhere = elsewhere_;
        return facts;
    }
    UsersPlan planned() const { return plan_users(accounts_, facts()); }
    void apply(UsersPlan plan) {
        files_ = changed(files_, plan.changes, "/bin/bash", 20000);
        record_ = plan.record;
        for (const auto& [login, content] : plan.keys) {
            if (content.empty()) {
                keys_.erase(login);
            } else {
                keys_[login] = content;
            }
        }
        for (const MadeUser& user : plan.homes) record_[user.uid].home_made = true;
        for (const MadeUser& user : plan.end) record_[user.uid].ended = !record_[user.uid].removed;
    }
    UsersPlan settled() {
        apply(planned());
        return planned();
    }
    std::vector<Kind> kinds() const {
        std::vector<Kind> kinds;
        for (const UserChange& change : planned().changes) kinds.push_back(change.kind);
        return kinds;
    }
    void expect_refused(Uid uid, const std::string& part) {
        const UsersPlan plan = planned();
        ASSERT_EQ(plan.refused.size(), 1U);
        EXPECT_EQ(plan.refused[0].uid, uid);
        EXPECT_NE(plan.refused[0].reason.find(part), std::string::npos) << plan.refused[0].reason;
        EXPECT_FALSE(plan.present.contains(uid));
        for (const UserChange& change : plan.changes) EXPECT_NE(change.uid, uid);
        EXPECT_FALSE(plan.keys.contains(plan.refused[0].login));
    }

    UserFiles files_;
    UsersRecord record_;
    std::string home_ = "/shared/home";
    bool makes_homes_ = true;
    std::map<std::string, std::string> keys_;
    std::map<std::string, std::string> elsewhere_;
    std::vector<Account> accounts_;
};

TEST_F(UsersPlanTest, makes_users_with_keys_and_homes_once) {
    const UsersPlan plan = planned();
    EXPECT_EQ(plan.changes,
              (std::vector<UserChange>{{Kind::create, "ann", 200000, "ann@x.org", "/shared/home/ann"},
                                       {Kind::create, "bob", 200001, "bob@x.org", "/shared/home/bob"}}));
    EXPECT_EQ(plan.keys, (std::map<std::string, std::string>{{"ann", std::string(key) + "\n"}}));
    EXPECT_EQ(plan.homes.size(), 2U);
    EXPECT_EQ(plan.present.text(100), "200000-200001");
    EXPECT_TRUE(settled().nothing_to_do());
    EXPECT_EQ(planned().present.text(100), "200000-200001");
    EXPECT_EQ(summary_of(planned()), "users: 2 are there");
}

TEST_F(UsersPlanTest, homes_are_made_by_one_machine_only) {
    makes_homes_ = false;
    EXPECT_TRUE(planned().homes.empty());
}

TEST_F(UsersPlanTest, names_and_numbers_of_others_are_refused_and_nothing_of_them_is_changed) {
    files_.passwd += "ann:x:1001:1001::/home/ann:/bin/sh\n";
    expect_refused(200000, "a user ann is there already, with number 1001");
    files_.passwd = "x:x:200000:1::/:/\n";
    expect_refused(200000, "number 200000 is the user \"x\"'s already");
    files_.passwd = "ann:x:200000:200000::/:/\n";
    expect_refused(200000, "a user ann is there already");
    files_.passwd = "";
    files_.group = "ann:x:77:\n";
    expect_refused(200000, "a group ann is there already, with number 77");
    files_.group = "x:x:200000:\n";
    expect_refused(200000, "number 200000 is the group \"x\"'s already");
    files_.group = "";
    files_.subuid = "site:165536:65536\n";
    files_.subuid = "site:200000:1\n";
    expect_refused(200000, "\"site\"'s range of /etc/subuid");
    files_.subuid = "";
    files_.subgid = "1000:199999:2\n";
    expect_refused(200000, "/etc/subgid");
    files_.subgid = "";
    elsewhere_ = {{"ann", "a user \"ann\" comes from another source"}};
    expect_refused(200000, "comes from another source");
    elsewhere_ = {{"200000", "a user with number 200000 comes from another source"}};
    expect_refused(200000, "comes from another source");
}

TEST_F(UsersPlanTest, one_refused_keeps_no_other_from_being_made) {
    files_.passwd += "ann:x:1001:1001::/home/ann:/bin/sh\n";
    const UsersPlan plan = settled();
    EXPECT_TRUE(plan.nothing_to_do());
    EXPECT_EQ(plan.present.text(100), "200001");
    EXPECT_FALSE(record_.contains(200000));
    EXPECT_NE(summary_of(plan).find("1 refused: number 200000 (ann@x.org): a user ann"), std::string::npos);
}

TEST_F(UsersPlanTest, half_made_is_completed_after_a_crash) {
    const UsersPlan plan = planned();
    record_ = record_before(plan, record_);
    files_.group += "ann:x:200000:\n";
    EXPECT_TRUE(planned().refused.empty());
    EXPECT_TRUE(settled().nothing_to_do());
    EXPECT_TRUE(index_of(files_).users.contains("ann"));
}

TEST_F(UsersPlanTest, inactive_is_locked_ended_and_stays) {
    apply(planned());
    accounts_[0].active = false;
    const UsersPlan plan = planned();
    ASSERT_EQ(plan.changes.size(), 1U);
    EXPECT_EQ(plan.changes[0].kind, Kind::lock);
    EXPECT_EQ(plan.keys, (std::map<std::string, std::string>{{"ann", ""}}));
    ASSERT_EQ(plan.end.size(), 1U);
    EXPECT_EQ(plan.end[0].login, "ann");
    EXPECT_TRUE(plan.present.contains(200000));
    EXPECT_EQ(plan.active, 1U);
    EXPECT_TRUE(settled().nothing_to_do());
    // Somebody takes the lock off.
    files_ = changed(files_, {{Kind::unlock, "ann", 200000, "", ""}}, "", 0);
    EXPECT_EQ(kinds(), std::vector<Kind>{Kind::lock});
    EXPECT_TRUE(settled().nothing_to_do());
    accounts_[0].active = true;
    EXPECT_EQ(kinds(), std::vector<Kind>{Kind::unlock});
    EXPECT_TRUE(settled().nothing_to_do());
    EXPECT_EQ(index_of(files_).users.at("ann").password, "*");
    EXPECT_TRUE(keys_.contains("ann"));
}

TEST_F(UsersPlanTest, sessions_are_ended_until_they_are) {
    apply(planned());
    accounts_[0].active = false;
    apply(planned());
    record_[200000].ended = false;
    EXPECT_EQ(planned().end.size(), 1U);
    EXPECT_TRUE(planned().changes.empty());
}

TEST_F(UsersPlanTest, an_admins_lock_is_not_taken_off) {
    apply(planned());
    files_ = changed(files_, {{Kind::lock, "ann", 200000, "", ""}}, "", 0);
    EXPECT_TRUE(planned().changes.empty());
}

// Killed between the unlock's two writes: it is known whose lock it is.
TEST_F(UsersPlanTest, a_lock_of_ours_is_known_until_it_is_off) {
    apply(planned());
    accounts_[0].active = false;
    apply(planned());
    accounts_[0].active = true;
    record_ = record_before(planned(), record_);
    EXPECT_EQ(kinds(), std::vector<Kind>{Kind::unlock});
}

TEST_F(UsersPlanTest, who_was_inactive_from_the_beginning_is_not_made) {
    accounts_[0].active = false;
    EXPECT_EQ(planned().changes.size(), 1U);
    EXPECT_EQ(planned().changes[0].login, "bob");
    EXPECT_EQ(planned().present.text(100), "200000-200001");
}

TEST_F(UsersPlanTest, who_is_in_no_list_any_more_is_locked_and_keeps_name_and_number) {
    apply(planned());
    accounts_ = {{"ann@other.org", 200007, true, {}}, accounts_[1]};
    const UsersPlan plan = planned();
    ASSERT_EQ(plan.changes.size(), 2U);
    EXPECT_EQ(plan.changes[0].login, "ann-200007");
    EXPECT_EQ(plan.changes[1], (UserChange{Kind::lock, "ann", 200000, "ann@x.org", "/shared/home/ann"}));
}

TEST_F(UsersPlanTest, a_number_is_never_used_again) {
    apply(planned());
    accounts_[0].email = "zoe@x.org";
    expect_refused(200000, "was given to \"ann@x.org\"");
    apply(plan_removal(facts()));
    expect_refused(200000, "was given to \"ann@x.org\"");
    accounts_[0].email = "ANN@x.org";
    EXPECT_TRUE(planned().refused.empty());
}

TEST_F(UsersPlanTest, an_account_keeps_its_number) {
    apply(planned());
    accounts_ = {{"ann@x.org", 200009, true, {}}};
    // A new number is a new person: under another login.
    EXPECT_EQ(planned().changes[0].login, "ann-200009");
}

TEST_F(UsersPlanTest, a_problem_that_comes_later_changes_nothing_that_is_there) {
    apply(planned());
    files_.subuid = "site:165536:65536\n";
    const UsersPlan plan = planned();
    EXPECT_EQ(plan.refused.size(), 2U);
    EXPECT_TRUE(plan.nothing_to_do());
    EXPECT_TRUE(plan.present.empty());
}

TEST_F(UsersPlanTest, a_user_that_somebody_removed_is_made_again) {
    apply(planned());
    const std::string before = files_.passwd;
    files_ = changed(files_, {{Kind::remove, "ann", 200000, "", ""}}, "", 0);
    EXPECT_EQ(kinds(), std::vector<Kind>{Kind::create});
    EXPECT_TRUE(settled().nothing_to_do());
}

TEST_F(UsersPlanTest, other_keys_are_one_change) {
    apply(planned());
    accounts_[0].ssh_keys.push_back("ssh-rsa BBBB");
    const UsersPlan plan = planned();
    EXPECT_TRUE(plan.changes.empty());
    EXPECT_EQ(plan.keys.at("ann"), std::string(key) + "\nssh-rsa BBBB\n");
    keys_["stranger"] = "x";
    EXPECT_EQ(planned().keys.at("stranger"), "");
}

TEST_F(UsersPlanTest, homes_move_with_the_settings_but_not_an_admins) {
    apply(planned());
    home_ = "/data/home";
    files_.passwd.replace(files_.passwd.find("/shared/home/bob"), 16, "/special/home/bo");
    const UsersPlan plan = planned();
    ASSERT_EQ(plan.changes.size(), 1U);
    EXPECT_EQ(plan.changes[0], (UserChange{Kind::rehome, "ann", 200000, "ann@x.org", "/data/home/ann"}));
    ASSERT_EQ(plan.homes.size(), 1U);
    EXPECT_EQ(plan.homes[0].home, "/data/home/ann");
    EXPECT_TRUE(settled().nothing_to_do());
}

TEST_F(UsersPlanTest, an_uninstall_removes_ours_and_keeps_their_numbers) {
    const UserFiles before = files_;
    apply(planned());
    const UsersPlan removal = plan_removal(facts());
    EXPECT_EQ(removal.changes.size(), 2U);
    EXPECT_EQ(removal.end.size(), 2U);
    // Killed before the files were written: it is known that they are still to go.
    EXPECT_FALSE(record_before(removal, record_).at(200000).removed);
    apply(removal);
    EXPECT_EQ(files_, before);
    EXPECT_TRUE(keys_.empty());
    EXPECT_TRUE(record_.at(200000).removed);
    EXPECT_TRUE(plan_removal(facts()).changes.empty());
    EXPECT_EQ(kinds(), (std::vector<Kind>{Kind::create, Kind::create}));
    EXPECT_TRUE(settled().nothing_to_do());
}

TEST_F(UsersPlanTest, after_an_uninstall_a_name_may_be_somebody_elses) {
    apply(planned());
    apply(plan_removal(facts()));
    files_.passwd += "ann:x:200000:200000::/:/\n";
    expect_refused(200000, "a user ann is there already");
}

TEST_F(UsersPlanTest, the_record_is_read_as_it_was_written) {
    apply(planned());
    const Result<UsersRecord> read = users_record_from(value_of(record_));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read.value(), record_);
    for (const char* wrong : {"format", "users"}) {
        Value value = value_of(record_);
        value.set(wrong, 5);
        EXPECT_FALSE(users_record_from(value).ok());
    }
    Value twice;
    const Value user = value_of(record_).find("users")->array()->front();
    twice.set("format", "llmgw-slurm-users 1").set("users", Value::Array{user, user});
    EXPECT_FALSE(users_record_from(twice).ok());
}

}  // namespace
}  // namespace llmgw
