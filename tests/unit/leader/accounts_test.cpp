#include <gtest/gtest.h>

#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

const std::string one = R"([{"email":"ann@x.org","uid":200000,"active":true,"ssh_keys":[]}])";
const std::string two =
    R"([{"email":"ann@x.org","uid":200000,"active":false},{"email":"bob@x.org","uid":200001,"active":true}])";

struct AccountsTest : LeaderFixture {
    void put(const std::string& text) {
        write_text(directory.file("accounts.json"), text);
        if (leader) leader->reload_accounts();
    }
    http::Response get(const std::string& kind = "machine") { return ask("GET", "accounts", kind); }
};

TEST_F(AccountsTest, only_machines_and_admins_may_see_them) {
    put(one);
    start();
    EXPECT_EQ(ask("GET", "accounts", "").status, 401);
    EXPECT_EQ(get("machine").status, 200);
    EXPECT_EQ(get("admin").status, 200);
    EXPECT_EQ(ask("PUT", "accounts", "admin", one).status, 405);
}

TEST_F(AccountsTest, no_file_is_not_an_empty_list) {
    start();
    EXPECT_EQ(get().status, 404);
    put("[]");
    EXPECT_EQ(get().status, 200);
    EXPECT_EQ(get().body, "[]");
}

TEST_F(AccountsTest, are_served_with_their_revision) {
    put(one);
    start();
    const http::Response first = get();
    EXPECT_EQ(first.body, one);
    http::Request again = request("GET", "accounts", "machine");
    again.headers.emplace_back("If-None-Match", http::header(first.headers, "ETag"));
    EXPECT_EQ(sent(again).status, 304);
    put(two);
    EXPECT_EQ(sent(again).status, 200);
    EXPECT_NE(http::header(get().headers, "ETag"), http::header(first.headers, "ETag"));
}

TEST_F(AccountsTest, the_last_good_ones_stay_and_the_problem_is_told) {
    put(one);
    start();
    put(R"([{"email":"ann","uid":5,"active":true}])");
    const http::Response answer = get();
    EXPECT_EQ(answer.body, one);
    const std::string problem = http::header(answer.headers, "Llmgw-Problem");
    EXPECT_TRUE(has(problem, "[0].email: \"ann\"")) << problem;
    EXPECT_TRUE(has(problem, "[0].uid: 5"));
    EXPECT_TRUE(has(leader->status(), "accounts.json is wrong"));
    start();
    EXPECT_EQ(get().body, one);
    put(two);
    EXPECT_EQ(http::header(get().headers, "Llmgw-Problem"), "");
    std::filesystem::remove(directory.file("accounts.json"));
    leader->reload_accounts();
    EXPECT_EQ(get().status, 200);
    EXPECT_TRUE(has(http::header(get().headers, "Llmgw-Problem"), "put the file back"));
}

}  // namespace
}  // namespace llmgw::leader
