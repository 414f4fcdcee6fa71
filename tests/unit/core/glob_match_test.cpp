#include "core/glob_match.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace llmgw {
namespace {

TEST(GlobMatch, follows_directories) {
    EXPECT_TRUE(glob_matches("/etc/slurm/plugstack.conf.d/*.conf", "/etc/slurm/plugstack.conf.d/llmgw.conf"));
    EXPECT_FALSE(
        glob_matches("/etc/slurm/plugstack.conf.d/*.conf", "/etc/slurm/plugstack.conf.d/a/llmgw.conf"));
    EXPECT_FALSE(
        glob_matches("/etc/slurm/plugstack.conf.d/*.conf", "/etc/slurm/plugstack.conf.d/llmgw.conf.new"));
    EXPECT_TRUE(glob_matches("/etc/*/x", "/etc/slurm/x"));
    EXPECT_TRUE(glob_matches("/etc//slurm/*", "/etc/slurm/x"));
    EXPECT_FALSE(glob_matches("etc/*", "/etc/x"));
    EXPECT_FALSE(glob_matches("/etc/*", "/etc/.x")) << "hidden files are not for patterns";
    EXPECT_FALSE(glob_matches("/etc/slurm", "/etc/slurm/x"));
    EXPECT_FALSE(glob_matches("/etc/slurm/x", "/etc/slurm"));
}

TEST(GlobMatch, knows_a_pattern_from_a_name) {
    for (const char* pattern : {"*", "a?", "[ab]", "/x/*.conf"})
        EXPECT_TRUE(has_wildcard(pattern)) << pattern;
    for (const char* name : {"", "a", "/etc/x.conf", "a]b"}) EXPECT_FALSE(has_wildcard(name)) << name;
}

// Every pattern against every name, both from a small alphabet, as the C library has it.
TEST(GlobMatch, agrees_with_the_c_library) {
    std::vector<std::string> words{""};
    const auto grow = [](const std::vector<std::string>& shorter, const std::string& alphabet,
                         std::size_t most) {
        std::vector<std::string> all = shorter;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].size() == most) continue;
            for (const char c : alphabet) all.push_back(all[i] + c);
        }
        return all;
    };
    const std::vector<std::string> patterns = grow(words, "ab.*?[]!-\\", 4);
    const std::vector<std::string> names = grow(words, "ab.-", 3);
    std::size_t compared = 0;
    for (const std::string& pattern : patterns) {
        // What the C library makes of a pattern that ends in a backslash, or has a range that ends in one,
        // differs between its own versions.
        if (pattern.find("-\\") != std::string::npos || pattern.ends_with('\\')) continue;
        for (const std::string& name : names) {
            if (name.empty() != pattern.empty()) continue;
            const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD | FNM_PATHNAME) == 0;
            ASSERT_EQ(glob_matches(pattern, name), expected) << pattern << " against " << name;
            ++compared;
        }
    }
    EXPECT_GT(compared, 100000U);
}

}  // namespace
}  // namespace llmgw
