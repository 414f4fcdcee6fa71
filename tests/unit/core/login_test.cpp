#include "core/login.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/names.hpp"

namespace llmgw {
namespace {

std::string only(const std::string& email, Uid uid = 200000) {
    return logins_of({{email, uid}}).front();
}

TEST(Login, is_what_stands_before_the_at) {
    EXPECT_EQ(only("ann@x.org"), "ann");
    EXPECT_EQ(only("Ann.Smith@x.org"), "ann-smith");
    EXPECT_EQ(only("a_b9@x.org"), "a_b9");
}

TEST(Login, odd_characters_become_one_dash_and_never_an_end) {
    EXPECT_EQ(only("ann+test@x.org"), "ann-test");
    EXPECT_EQ(only("j\xc3\xb6rg@x.org"), "j-rg");
    EXPECT_EQ(only("..ann..@x.org"), "ann");
    EXPECT_EQ(only("-rf@x.org"), "rf");
    EXPECT_EQ(only("a'; rm -rf $HOME@x.org"), "a-rm-rf-home");
}

TEST(Login, begins_with_a_letter) {
    EXPECT_EQ(only("007@x.org"), "u007");
    EXPECT_EQ(only("_apt@x.org"), "u_apt");
    EXPECT_EQ(only("+++@x.org"), "u");
    EXPECT_EQ(only("\xe5\xbc\xa0@x.org"), "u");
}

TEST(Login, is_never_too_long) {
    EXPECT_EQ(only(std::string(32, 'a') + "@x.org"), std::string(32, 'a'));
    EXPECT_EQ(only(std::string(33, 'a') + "@x.org"), std::string(32, 'a'));
    // No dash at the cut.
    EXPECT_EQ(only(std::string(31, 'a') + ".b@x.org"), std::string(31, 'a'));
    EXPECT_EQ(logins_of({{std::string(40, 'a') + "@x", 200000}, {std::string(41, 'a') + "@x", 200001}})[1],
              std::string(25, 'a') + "-200001");
}

TEST(Login, reserved_names_get_the_number) {
    for (const char* name : {"root", "slurm", "munge", "sudo", "docker", "www-data", "nobody", "systemd-x",
                             "llmgw", "llmgw-slurm", "Root"}) {
        const std::string login = only(std::string(name) + "@x.org");
        EXPECT_TRUE(login.ends_with("-200000")) << login;
        EXPECT_FALSE(is_reserved_login("ann"));
    }
}

TEST(Login, of_one_base_the_lowest_number_has_it_in_whatever_order) {
    std::vector<LoginOwner> owners{{"ann@x.org", 200005}, {"ann@y.org", 200001}, {"Ann@z.org", 200003}};
    const std::map<Uid, std::string> wanted{{200001, "ann"}, {200003, "ann-200003"}, {200005, "ann-200005"}};
    std::sort(owners.begin(), owners.end(), [](auto& a, auto& b) { return a.uid < b.uid; });
    do {
        const std::vector<std::string> logins = logins_of(owners);
        for (std::size_t i = 0; i < owners.size(); ++i) EXPECT_EQ(logins[i], wanted.at(owners[i].uid));
    } while (
        std::next_permutation(owners.begin(), owners.end(), [](auto& a, auto& b) { return a.uid < b.uid; }));
}

TEST(Login, nobody_gets_what_another_ones_number_makes) {
    const std::vector<std::string> logins =
        logins_of({{"ann@x", 200000}, {"ann@y", 200007}, {"ann-200007@z", 200001}});
    EXPECT_EQ(logins, (std::vector<std::string>{"ann", "ann-200007", "ann-200007-200001"}));
}

// Whatever addresses there are: each a login, and no two the same.
TEST(Login, are_all_different_and_plain) {
    std::vector<LoginOwner> owners;
    const std::vector<std::string> parts{"a",
                                         "A",
                                         "a.",
                                         "root",
                                         "a-200003",
                                         "a-200004-200003",
                                         "1",
                                         "u1",
                                         ".1",
                                         "-",
                                         "u",
                                         std::string(60, 'a'),
                                         std::string(31, 'a') + "-b",
                                         "systemd",
                                         "systemd-",
                                         "a--b",
                                         "a-b",
                                         "_",
                                         "\xff\xfe"};
    Uid uid = 200000;
    for (int round = 0; round < 3; ++round) {
        for (const std::string& part : parts) {
            owners.push_back({part + "@" + std::to_string(round), uid});
            ++uid;
        }
    }
    std::map<std::string, Uid> seen;
    const std::vector<std::string> logins = logins_of(owners);
    for (std::size_t i = 0; i < logins.size(); ++i) {
        EXPECT_TRUE(is_login(logins[i])) << logins[i];
        EXPECT_FALSE(is_reserved_login(logins[i]) && !logins[i].ends_with(std::to_string(owners[i].uid)));
        EXPECT_TRUE(seen.emplace(logins[i], owners[i].uid).second) << logins[i];
    }
}

}  // namespace
}  // namespace llmgw
