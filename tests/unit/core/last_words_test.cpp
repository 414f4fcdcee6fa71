#include "core/last_words.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

TEST(LastWords, are_the_last_lines_that_say_something) {
    EXPECT_EQ(last_words("", 3), "");
    EXPECT_EQ(last_words(" \n\r\n\n", 3), "");
    EXPECT_EQ(last_words("a\nb\n\n  c  \n", 2), "b; c");
    EXPECT_EQ(last_words("a\nb", 5), "a; b");
    EXPECT_EQ(last_words("a\nb", 0), "");
    EXPECT_EQ(last_words("a\nb", -1), "");
}

TEST(LastWords, take_what_a_terminal_would_show_last_of_a_line) {
    EXPECT_EQ(last_words("10%\r50%\rdone\r\n", 1), "done");
}

TEST(LastWords, are_harmless_and_short) {
    EXPECT_EQ(last_words("\x1b[31mred\x1b[0m", 1), "?[31mred?[0m");
    EXPECT_EQ(last_words(std::string(1000, 'x'), 1), std::string(limits::last_words_bytes, 'x') + "...");
}

TEST(BuildFailure, is_the_first_error) {
    EXPECT_EQ(build_failure("cc -c a.c\na.c:1:10: fatal error: slurm/spank.h: No such file\ncompilation "
                            "terminated.\nb.c:2: error: later\nmake: *** [Makefile:3: a.o] Error 1\n"),
              "a.c:1:10: fatal error: slurm/spank.h: No such file");
    EXPECT_EQ(build_failure("a.o: in function `f':\na.c:(.text+0x5): undefined reference to `g'\n"
                            "collect2: error: ld returned 1 exit status\n"),
              "a.c:(.text+0x5): undefined reference to `g'");
}

TEST(BuildFailure, is_else_the_last_line_that_is_not_make_s) {
    EXPECT_EQ(build_failure("strip: cannot write: No space left on device\nmake[1]: *** [all] Error 1\n"
                            "make: *** [all] Error 2\n"),
              "strip: cannot write: No space left on device");
    EXPECT_EQ(build_failure("make: *** No targets specified and no makefile found. Stop.\n"),
              "make: *** No targets specified and no makefile found. Stop.");
    EXPECT_EQ(build_failure(""), "");
}

}  // namespace
}  // namespace llmgw
