#include "core/sshd_config.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

std::string line_for(const std::string& main_file) {
    const std::string text = sshd_drop_in_text(main_file, "/k");
    return text.substr(text.find('\n') + 1);
}

TEST(SshdConfig, keeps_what_sshd_reads_by_itself) {
    EXPECT_EQ(line_for(""), "AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2 /k/%u\n");
    EXPECT_EQ(line_for("Include /etc/ssh/sshd_config.d/*.conf\n#AuthorizedKeysFile x\nPort 22\n"),
              line_for(""));
}

TEST(SshdConfig, keeps_what_the_site_says) {
    EXPECT_EQ(line_for("AuthorizedKeysFile /site/%u\n"), "AuthorizedKeysFile /site/%u /k/%u\n");
    EXPECT_EQ(line_for("  authorizedkeysFILE=a b \n"), "AuthorizedKeysFile a b /k/%u\n");
    EXPECT_EQ(line_for("AuthorizedKeysFile none\n"), "AuthorizedKeysFile /k/%u\n");
    EXPECT_EQ(line_for("AuthorizedKeysFile first\nAuthorizedKeysFile second\n"),
              "AuthorizedKeysFile first /k/%u\n");
}

TEST(SshdConfig, what_is_for_some_is_not_for_all) {
    EXPECT_EQ(line_for("Match User x\n  AuthorizedKeysFile /site/%u\n"), line_for(""));
}

TEST(SshdConfig, sees_whether_sshd_reads_the_keys) {
    EXPECT_TRUE(sshd_reads_keys("port 22\nauthorizedkeysfile .ssh/authorized_keys /k/%u\n", "/k"));
    EXPECT_FALSE(sshd_reads_keys("authorizedkeysfile .ssh/authorized_keys\n", "/k"));
    EXPECT_FALSE(sshd_reads_keys("authorizedkeysfile /k/%u/x\nbanner /k/%u\n", "/k"));
    EXPECT_FALSE(sshd_reads_keys("", "/k"));
}

}  // namespace
}  // namespace llmgw
