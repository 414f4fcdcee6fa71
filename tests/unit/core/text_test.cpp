#include "core/text.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(ControlCharacters, are_bytes_below_space_and_del) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text{'a', static_cast<char>(byte), 'b'};
        const bool control = byte < 0x20 || byte == 0x7f;
        EXPECT_EQ(has_control_characters(text), control) << byte;
        // A byte past ASCII is no character by itself.
        EXPECT_EQ(without_control_characters(text), control || byte > 0x7f ? "a b" : text) << byte;
    }
    EXPECT_FALSE(has_control_characters(""));
}

TEST(ControlCharacters, are_replaced_one_by_one_and_letters_stay) {
    EXPECT_EQ(without_control_characters("\xc2\x9b"
                                         "1m äöü 日本"),
              " 1m äöü 日本");
    EXPECT_EQ(without_control_characters("\xe2\x80\xae\xe2\x80\xa8x\xe2\x82"), "  x  ");
}

TEST(Shortened, keeps_what_fits) {
    EXPECT_EQ(shortened("", 0), "");
    EXPECT_EQ(shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(shortened("abcdefg", 6), "abc...");
    EXPECT_EQ(shortened("abcdefg", 4), "a...");
    EXPECT_EQ(shortened("abcdefg", 3), "abc");
    EXPECT_EQ(shortened("abcdefg", 0), "");
}

// Half a character at the end of a message shows as garbage, or makes a client drop the line.
TEST(Shortened, cuts_between_characters) {
    EXPECT_EQ(shortened("a\xc3\xa4"
                        "bcdef",
                        5),
              "a...");
    EXPECT_EQ(shortened("a\xc3\xa4"
                        "bcdef",
                        6),
              "a\xc3\xa4...");
    EXPECT_EQ(shortened("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 7), "\xf0\x9f\x98\x80...");
    EXPECT_EQ(shortened("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 6), "...");
    EXPECT_EQ(shortened("\xe2\x82\xac", 2), "");
    // Bytes that are no UTF-8 are cut anywhere.
    EXPECT_EQ(shortened(std::string(20, '\x80'), 10).size(), 10U);
}

TEST(Split, gives_the_pieces_between_separators) {
    EXPECT_EQ(split("", ','), Pieces{});
    EXPECT_EQ(split("a", ','), (Pieces{"a"}));
    EXPECT_EQ(split("a,b", ','), (Pieces{"a", "b"}));
    EXPECT_EQ(split(",a,,", ','), (Pieces{"", "a", "", ""}));
    EXPECT_EQ(split(",", ','), (Pieces{"", ""}));
}

TEST(Join, puts_a_separator_between_all_pieces) {
    EXPECT_EQ(join({}, ", "), "");
    EXPECT_EQ(join({"a"}, ", "), "a");
    EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
    EXPECT_EQ(join({"", "b", ""}, ","), ",b,");
}

TEST(Trimmed, has_no_blanks_at_its_ends) {
    EXPECT_EQ(trimmed(" \t a b\t "), "a b");
    EXPECT_EQ(trimmed(" \t "), "");
    EXPECT_EQ(trimmed(""), "");
    EXPECT_EQ(trimmed("\na\n"), "\na\n");
}

}  // namespace
}  // namespace llmgw
