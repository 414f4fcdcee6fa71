#include "core/names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace llmgw {
namespace {

TEST(Names, RefusesWhatCouldBeReadAsSomethingElse) {
    for (const char* text : {"", "-n1", ".n1", "_n1", "n 1", "n1 ", " n1", "n/1", "../n1", "n1\n", "n[1-3]",
                             "n1,n2", "nö1", "n1;", "$n1", "n\"1", "n:1", "n@1", "*"}) {
        EXPECT_FALSE(is_name(text)) << text;
    }
    EXPECT_FALSE(is_name(std::string_view("n\0001", 3)));
    EXPECT_FALSE(is_name("n1\xff"));
}

TEST(Names, HasALimit) {
    EXPECT_FALSE(is_name(std::string(64, 'n')));
    EXPECT_TRUE(is_name(std::string(63, 'n')));
}

TEST(Names, AcceptsLettersDigitsAndPunctuationInside) {
    for (const char* text : {"a", "Z", "0", "9", "n1", "gpu-node_1.example", "1", "n..1", "n-", "n_", "n."}) {
        EXPECT_TRUE(is_name(text)) << text;
    }
}

TEST(Logins, RefusesWhatLeadsOutOfADirectory) {
    for (const char* text :
         {"", ".", "..", ".ssh", "-rf", "a/b", "../root", "a b", "a\n", "a:b", "a@b", "ä", "a$"}) {
        EXPECT_FALSE(is_login(text)) << text;
    }
    EXPECT_FALSE(is_login(std::string(33, 'a')));
}

TEST(Logins, AcceptsUsualOnes) {
    for (const char* text : {"a", "_svc", "anna.b", "anna-b", "a1", "Anna_B"})
        EXPECT_TRUE(is_login(text)) << text;
    EXPECT_TRUE(is_login(std::string(32, 'a')));
}

}  // namespace
}  // namespace llmgw
