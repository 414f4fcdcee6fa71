#include "core/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace llmgw {
namespace {

TEST(Utf8, RefusesBrokenSequences) {
    for (const std::string_view text :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xe0\x9f\xbf",
          "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
          "\xf8\x88\x80\x80\x80", "\xfe", "\xff", "\xf0\x9f\x98"}) {
        const Character character = first_character(text);
        EXPECT_FALSE(character.valid) << text;
        EXPECT_EQ(character.bytes, 1U);
    }
}

TEST(Utf8, HasAnEnd) {
    EXPECT_EQ(first_character("").bytes, 0U);
}

TEST(Utf8, ReadsEachLengthAtItsLimits) {
    const auto is = [](std::string_view text, char32_t code) {
        const Character character = first_character(text);
        return character.valid && character.code == code && character.bytes == text.size();
    };
    EXPECT_TRUE(is(std::string_view("\0", 1), 0));
    EXPECT_TRUE(is("\x7f", 0x7F));
    EXPECT_TRUE(is("\xc2\x80", 0x80));
    EXPECT_TRUE(is("\xdf\xbf", 0x7FF));
    EXPECT_TRUE(is("\xe0\xa0\x80", 0x800));
    EXPECT_TRUE(is("\xed\x9f\xbf", 0xD7FF));
    EXPECT_TRUE(is("\xee\x80\x80", 0xE000));
    EXPECT_TRUE(is("\xf0\x90\x80\x80", 0x10000));
    EXPECT_TRUE(is("\xf4\x8f\xbf\xbf", 0x10FFFF));
}

}  // namespace
}  // namespace llmgw
