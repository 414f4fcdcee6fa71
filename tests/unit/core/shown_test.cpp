#include "core/shown.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(Shown, ReplacesWhatCouldSteerATerminal) {
    EXPECT_EQ(shown("a\nb\r\tc\x1b[31m\x7f"), "\"a?b??c?[31m?\"");
    EXPECT_EQ(shown("c1 \xc2\x9b"
                    "31m"),
              "\"c1 ?31m\"");  // CSI in one character
    EXPECT_EQ(shown("\xe2\x80\xae"
                    "abc\xe2\x81\xa6\xe2\x80\xa8"),
              "\"?abc??\"");                             // right-to-left, isolate, line
    EXPECT_EQ(shown("\xd8\x9c\xe2\x80\x8f"), "\"??\"");  // bidirectional marks
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Shown, ReplacesWhatIsNoUtf8) {
    EXPECT_EQ(printable("a\xff\xc3"), "a??");
    EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong slash
    EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // past U+10FFFF
    EXPECT_EQ(printable("\xe2\x82"), "??");            // cut short
}

TEST(Shown, KeepsLettersOfAllLanguages) {
    EXPECT_EQ(shown("gpü-日本 😀"), "\"gpü-日本 😀\"");
}

TEST(Shown, IsCutPastTheLimitOnly) {
    const std::string fits(limits::shown_bytes, 'x');
    EXPECT_EQ(shown(fits), '"' + fits + '"');
    EXPECT_EQ(shown(fits + 'x'), '"' + fits + "...\"");
}

TEST(Shown, IsCutBetweenCharacters) {
    EXPECT_EQ(printable("aé", 3), "aé");
    EXPECT_EQ(printable("aéb", 3), "aé...");
    EXPECT_EQ(printable("aéb", 2), "a...");
}

}  // namespace
}  // namespace llmgw
