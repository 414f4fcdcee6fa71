#include "core/accounts.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "json/accounts_json.hpp"

namespace llmgw {
namespace {

const std::string ed25519 =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Sy8Nu7sEXqRbDf3Xe0PvvBDTsjXy1RAdHAZwKXNHR";
const std::string good =
    R"({"email":"ann@x.org","uid":200000,"active":true,"ssh_keys":[")" + ed25519 + R"( ann@laptop"]})";

std::vector<std::string> errors_of(const std::string& text) {
    std::vector<std::string> errors;
    for (const SettingError& error : json::read_accounts_text(text).errors)
        errors.push_back(error.key + ": " + error.message);
    return errors;
}

void expect_error(const std::string& text, const std::string& part) {
    const std::vector<std::string> errors = errors_of(text);
    ASSERT_EQ(errors.size(), 1U) << text;
    EXPECT_NE(errors[0].find(part), std::string::npos) << errors[0];
}

std::string entry(const std::string& email, const std::string& uid = "200000",
                  const std::string& more = R"(,"active":true)") {
    return R"([{"email":)" + email + R"(,"uid":)" + uid + more + "}]";
}

TEST(Accounts, reads_what_is_written) {
    const ReadAccounts read = json::read_accounts_text(
        "[" + good +
        R"(,{"email":"bob@x.org","uid":200002,"active":false},{"uid":200001,"active":true,"email":"c@x"}])");
    ASSERT_TRUE(read.ok()) << json::sentence_of(read.errors);
    ASSERT_EQ(read.accounts.size(), 3U);
    EXPECT_EQ(read.accounts[0], (Account{"ann@x.org", 200000, true, {ed25519 + " ann@laptop"}}));
    EXPECT_EQ(read.accounts[1].email, "c@x");
    EXPECT_EQ(read.accounts[2], (Account{"bob@x.org", 200002, false, {}}));
    EXPECT_EQ(read_accounts(value_of(read.accounts)).accounts, read.accounts);
    EXPECT_TRUE(json::read_accounts_text("[]").ok());
}

TEST(Accounts, tells_each_wrong_thing_by_its_place) {
    expect_error("{}", "a list");
    expect_error("[5]", "[0]: an object");
    expect_error(entry("7"), "[0].email: text is wanted, found the number 7");
    expect_error(entry(R"("ann")"), "no e-mail address");
    expect_error(entry(R"("a b@x")"), "no e-mail address");
    expect_error(entry(R"("a:b@x")"), "no e-mail address");
    expect_error(entry(R"("a@b@x")"), "no e-mail address");
    expect_error(entry(R"("@x")"), "no e-mail address");
    expect_error(entry("\"" + std::string(limits::email_bytes, 'a') + "@x\""), "no e-mail address");
    expect_error(entry(R"("a\u001b@x")"), "no e-mail address");
    expect_error(entry(R"("a@x")", "\"200000\""), "[0].uid: a whole number");
    expect_error(entry(R"("a@x")", "199999"), "outside of 200000 to 524287");
    expect_error(entry(R"("a@x")", "524288"), "outside of 200000 to 524287");
    expect_error(entry(R"("a@x")", "-1"), "outside of");
    expect_error(entry(R"("a@x")", "200000", ""), "[0].active: true or false is wanted, it is missing");
    expect_error(entry(R"("a@x")", "200000", R"(,"active":true,"shell":"x")"), "[0].shell: unknown key");
    expect_error(entry(R"("a@x")", "200000", R"(,"active":true,"ssh_keys":"x")"), "[0].ssh_keys: a list");
    expect_error(entry(R"("a@x")", "200000", R"(,"active":true,"ssh_keys":[1])"), "[0].ssh_keys[0]");
    expect_error("[" + good + "," + entry(R"("ANN@x.org")", "200001").substr(1), "is already [0]");
    expect_error("[" + good + "," + entry(R"("b@x.org")").substr(1), "200000 is already [0]'s");
    expect_error("[" + good + "] x", "after the end");
}

TEST(Accounts, tells_all_at_once) {
    EXPECT_EQ(errors_of(R"([{"email":1,"uid":2,"active":3,"ssh_keys":4,"x":5},6])").size(), 6U);
}

TEST(Accounts, has_a_limit) {
    Value::Array many(limits::accounts + 1);
    EXPECT_EQ(read_accounts(many).errors.size(), 1U);
}

TEST(SshKey, takes_public_keys) {
    EXPECT_EQ(ssh_key_problem(ed25519), "");
    EXPECT_EQ(ssh_key_problem(ed25519 + " a comment, \"with\" things"), "");
}

TEST(SshKey, refuses_everything_else) {
    for (const std::string& key :
         {std::string(), std::string("ssh-ed25519"), std::string("ssh-ed25519 "),
          std::string("ssh-dss AAAAB3NzaC1kc3M="), "command=\"/bin/sh\" " + ed25519, "no-pty " + ed25519,
          ed25519 + "\nssh-rsa AAAA", ed25519 + "\t",
          // Another type's name than the key itself has.
          "ssh-rsa " + ed25519.substr(12), ed25519.substr(0, 40) + "!" + ed25519.substr(41),
          std::string("-----BEGIN OPENSSH PRIVATE KEY-----"),
          ed25519 + " " + std::string(limits::ssh_key_bytes, 'x')}) {
        EXPECT_NE(ssh_key_problem(key), "") << key.substr(0, 80);
    }
}

}  // namespace
}  // namespace llmgw
