#include "core/user_files.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Kind = UserChange::Kind;

UserFiles some_files() {
    return {"root:x:0:0:root:/root:/bin/bash\nsite:x:1000:1000:Site, User:/home/site:/bin/zsh\n",
            "root:x:0:\nsite:x:1000:\ndocker:x:999:site,ann\n",
            "root:!:19000:0:99999:7:::\nsite:$y$hash:19000:0:99999:7:::\n",
            "root:*::\nsite:!::\ndocker:!:ann:site,ann\n",
            "site:100000:65536\n",
            "site:165536:65536\n"};
}

UserFiles with(const UserFiles& files, const std::vector<UserChange>& changes) {
    return changed(files, changes, "/bin/bash", 20000);
}

const UserChange ann{Kind::create, "ann", 200001, "ann@x.org", "/shared/home/ann"};
const UserChange bob{Kind::create, "bob", 200000, "bob@x.org", "/shared/home/bob"};

UserChange of(Kind kind, const std::string& login) {
    return {kind, login, 200001, "ann@x.org", "/elsewhere/" + login};
}

TEST(UserFiles, finds_users_groups_and_ranges) {
    const UserIndex index = index_of(some_files());
    EXPECT_EQ(index.users.at("site"), (KnownUser{1000, 1000, "/home/site", "$y$hash", ""}));
    EXPECT_EQ(index.user_of.at(0), "root");
    EXPECT_EQ(index.group_of.at(999), "docker");
    ASSERT_EQ(index.ranges.size(), 2U);
    EXPECT_TRUE(index.ranges[1].groups);
    EXPECT_TRUE(index.ranges[1].contains(231071));
    EXPECT_FALSE(index.ranges[1].contains(231072));
    EXPECT_FALSE(index.ranges[0].contains(99999));
}

TEST(UserFiles, of_one_name_the_first_line_counts_and_nonsense_is_passed_over) {
    const UserIndex index =
        index_of({"a:x:1:1::/a:/b\na:x:2:2::/a:/b\nhalf:x\n\nb:x:x:1::/:/\n", "", "a::1\n", {}, "x:1\n", ""});
    EXPECT_EQ(index.users.size(), 1U);
    EXPECT_EQ(index.users.at("a").uid, 1U);
    EXPECT_EQ(index.user_of.at(2), "a");
    // No password is not the same as no line.
    EXPECT_EQ(index.users.at("a").password, " ");
    EXPECT_TRUE(index.ranges.empty());
}

TEST(UserFiles, nothing_changes_without_changes) {
    EXPECT_EQ(with(some_files(), {}), some_files());
    EXPECT_TRUE(edits_between(some_files(), some_files(), "").empty());
}

TEST(UserFiles, makes_users_by_number_and_leaves_every_other_byte) {
    const UserFiles before = some_files();
    const UserFiles after = with(before, {ann, bob});
    EXPECT_EQ(after.passwd, before.passwd +
                                "bob:x:200000:200000:bob@x.org:/shared/home/bob:/bin/bash\n"
                                "ann:x:200001:200001:ann@x.org:/shared/home/ann:/bin/bash\n");
    EXPECT_EQ(after.group, before.group + "bob:x:200000:\nann:x:200001:\n");
    EXPECT_EQ(after.shadow, before.shadow + "bob:*:20000::::::\nann:*:20000::::::\n");
    EXPECT_EQ(*after.gshadow, *before.gshadow + "bob:!::\nann:!::\n");
    EXPECT_EQ(after.subuid, before.subuid);
    EXPECT_EQ(with(after, {ann, bob}), after);
}

TEST(UserFiles, completes_what_was_half_made) {
    UserFiles half = some_files();
    half.group += "ann:x:200001:\n";
    EXPECT_EQ(with(half, {ann}), with(some_files(), {ann}));
}

TEST(UserFiles, writes_no_gshadow_where_there_is_none) {
    UserFiles files = some_files();
    files.gshadow.reset();
    EXPECT_FALSE(with(files, {ann}).gshadow.has_value());
}

TEST(UserFiles, adds_before_nis_and_after_a_line_without_an_end) {
    UserFiles files = some_files();
    files.passwd += "+::::::";
    EXPECT_NE(with(files, {ann}).passwd.find("/bin/bash\n+::::::\n"), std::string::npos);
    files.passwd = "root:x:0:0:root:/root:/bin/bash";
    EXPECT_EQ(with(files, {ann}).passwd.find("root:x:0:0:root:/root:/bin/bash\nann:"), 0U);
}

TEST(UserFiles, a_comment_stays_one_field) {
    UserChange odd = ann;
    odd.email = "a:b,c\n@x";
    EXPECT_NE(with(some_files(), {odd}).passwd.find(":200001:a?b?c?@x:/shared/home/ann:/bin/bash\n"),
              std::string::npos);
}

TEST(UserFiles, locks_and_unlocks) {
    const UserFiles made = with(some_files(), {ann});
    const UserFiles locked = with(made, {of(Kind::lock, "ann")});
    EXPECT_NE(locked.shadow.find("ann:!*:20000:::::1:\n"), std::string::npos) << locked.shadow;
    EXPECT_EQ(locked.passwd, made.passwd);
    EXPECT_EQ(with(locked, {of(Kind::lock, "ann")}), locked);
    EXPECT_EQ(with(locked, {of(Kind::unlock, "ann")}), made);
    // An admin's password is kept, and an admin's own date of expiry.
    UserFiles own = some_files();
    own.passwd = "ann:x:200001:200001::/h:/s\n";
    own.shadow = "ann:$y$hash:20000::::::\n";
    EXPECT_EQ(with(with(own, {of(Kind::lock, "ann")}), {of(Kind::unlock, "ann")}).shadow, own.shadow);
    own.shadow = "ann:!:20000:::::30000:\n";
    EXPECT_EQ(with(own, {of(Kind::unlock, "ann")}).shadow, "ann:*:20000:::::30000:\n");
}

TEST(UserFiles, moves_a_home) {
    const UserFiles made = with(some_files(), {ann});
    EXPECT_NE(with(made, {of(Kind::rehome, "ann")}).passwd.find(":/elsewhere/ann:/bin/bash\n"),
              std::string::npos);
}

TEST(UserFiles, removes_a_user_everywhere_and_nobody_else) {
    const UserFiles made = with(some_files(), {bob, ann});
    const UserFiles gone = with(made, {of(Kind::remove, "ann")});
    UserFiles wanted = with(some_files(), {bob});
    wanted.group = "root:x:0:\nsite:x:1000:\ndocker:x:999:site\nbob:x:200000:\n";
    wanted.gshadow = "root:*::\nsite:!::\ndocker:!::site\nbob:!::\n";
    EXPECT_EQ(gone, wanted);
}

std::vector<std::string> paths(const FileEdits& edits) {
    std::vector<std::string> paths;
    for (const FileEdit& edit : edits) paths.push_back(edit.path);
    return paths;
}

TEST(UserFiles, a_user_comes_last_into_passwd_and_leaves_it_first) {
    const UserFiles before = some_files();
    const UserFiles after = with(before, {ann});
    const std::vector<std::string> coming{"/r/etc/group", "/r/etc/gshadow", "/r/etc/shadow", "/r/etc/passwd"};
    EXPECT_EQ(paths(edits_between(before, after, "/r")), coming);
    const UserFiles gone = with(after, {of(Kind::remove, "ann")});
    EXPECT_EQ(paths(edits_between(after, gone, "/r")),
              (std::vector<std::string>{coming.rbegin(), coming.rend()}));
    EXPECT_EQ(edits_between(before, after, "")[3].before, before.passwd);
    EXPECT_EQ(edits_between(before, after, "")[3].after, after.passwd);
}

}  // namespace
}  // namespace llmgw
