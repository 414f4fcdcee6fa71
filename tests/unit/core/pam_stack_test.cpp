#include "core/pam_stack.hpp"

#include <gtest/gtest.h>

#include <map>

namespace llmgw {
namespace {

using Texts = std::map<std::string, std::string>;

std::vector<PamLine> lines_of(const Texts& texts) {
    return pam_lines(
        [&](const std::string& name) {
            const auto found = texts.find(name);
            return found == texts.end() ? std::nullopt : std::optional<std::string>(found->second);
        },
        "sshd");
}

TEST(PamStack, reads_lines_as_libpam_does) {
    const std::vector<PamLine> lines =
        lines_of({{"sshd",
                   "#%PAM-1.0\n"
                   "auth       required     pam_env.so # read environment\n"
                   "-session\toptional\tpam_systemd.so\n"
                   "account [success=1 default=ignore] \\\n  /lib/security/pam_unix.so  a=[x y] b\n"
                   "nonsense required x.so\n"
                   "account required\n"}});
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0], (PamLine{"auth", "required", "pam_env.so", {}, "sshd", 2}));
    EXPECT_EQ(lines[1].type, "session");
    EXPECT_EQ(lines[2].control, "[success=1 default=ignore]");
    EXPECT_TRUE(lines[2].is("pam_unix.so"));
    EXPECT_FALSE(lines[2].is("unix.so"));
    EXPECT_EQ(lines[2].place(), "sshd:4");
}

TEST(PamStack, has_included_files_in_their_places) {
    const std::vector<PamLine> lines =
        lines_of({{"sshd",
                   "account required first.so\n@include common\n"
                   "account substack system\nsession include system\n"
                   "account required last.so\n"},
                  {"common", "account required common.so\n@include sshd\n"},
                  {"system", "account required a.so\nsession required s.so\n"}});
    std::string modules;
    for (const PamLine& line : lines) modules += line.module + " ";
    EXPECT_EQ(modules, "first.so common.so a.so s.so last.so ");
}

TEST(PamStack, knows_nothing_of_files_that_are_not_there) {
    EXPECT_TRUE(lines_of({}).empty());
    EXPECT_EQ(lines_of({{"sshd", "@include nothing\nauth required x.so\n"}}).size(), 1U);
}

TEST(PamStack, is_the_same_text_wherever_a_line_stands) {
    const auto before = lines_of({{"sshd", "auth required x.so debug\n"}});
    const auto after = lines_of({{"sshd", "# a comment\n\nauth  required\tx.so   debug\n"}});
    EXPECT_EQ(text_of(before), text_of(after));
    EXPECT_EQ(text_of(before), "auth required x.so debug\n");
    EXPECT_NE(text_of(before), text_of(lines_of({{"sshd", "auth required x.so\n"}})));
}

}  // namespace
}  // namespace llmgw
