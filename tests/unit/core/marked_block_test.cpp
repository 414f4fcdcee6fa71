#include "core/marked_block.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Text = std::optional<std::string>;

const std::vector<Text> texts{std::nullopt, "",      "\n",    "a",         "a\n",
                              "a\nb",       "a\n\n", "a\r\n", "# llmgw\n", "a\nb\n"};

TEST(MarkedBlock, says_what_it_is_and_for_what) {
    EXPECT_EQ(
        with_block("a\n", BlockPlace::end, "tests", "x 1\n"),
        "a\n"
        "# llmgw-slurm begin: tests; written by llmgw-slurm-helper, don't edit up to \"llmgw-slurm end\"\n"
        "x 1\n"
        "# llmgw-slurm end\n");
    EXPECT_TRUE(
        with_block("a\n", BlockPlace::head, "tests", "x 1\n").ends_with("\nx 1\n# llmgw-slurm end\na\n"));
}

TEST(MarkedBlock, leaves_every_byte_of_the_rest) {
    for (const Text& text : texts) {
        for (const BlockPlace place : {BlockPlace::head, BlockPlace::end}) {
            const Result<Unmarked> unmarked = unmark(with_block(text, place, "tests", "x 1\ny 2\n"));
            ASSERT_TRUE(unmarked.ok());
            EXPECT_EQ(unmarked.value(), (Unmarked{text, {"x 1\ny 2\n"}})) << text.value_or("(none)");
        }
    }
}

TEST(MarkedBlock, can_be_at_both_ends) {
    for (const Text& text : texts) {
        const std::string front = with_block(text, BlockPlace::head, "tests", "x\n");
        const Result<Unmarked> unmarked = unmark(with_block(front, BlockPlace::end, "tests", "y\n"));
        ASSERT_TRUE(unmarked.ok());
        EXPECT_EQ(unmarked.value(), (Unmarked{text, {"x\n", "y\n"}})) << text.value_or("(none)");
    }
}

TEST(MarkedBlock, is_not_in_other_files) {
    for (const char* text : {"", "a\nb", "# llmgw-slurm\n", "x # llmgw-slurm begin\n"}) {
        EXPECT_EQ(unmark(text).value(), (Unmarked{text, {}}));
    }
}

// An admin wrote around it: nothing of that is touched, and no two lines become one.
TEST(MarkedBlock, keeps_what_came_later) {
    EXPECT_EQ(unmark("first\n" + with_block("a", BlockPlace::end, "tests", "x\n") + "last").value().rest,
              "first\na\nlast");
    EXPECT_EQ(unmark(with_block(std::nullopt, BlockPlace::end, "tests", "x\n") + "mine\n").value().rest,
              "mine\n");
}

TEST(MarkedBlock, is_an_error_when_half_of_it_is_left) {
    const std::string block = with_block("a\n", BlockPlace::end, "tests", "x\n");
    const Result<Unmarked> open = unmark(block.substr(0, block.rfind('#')));
    ASSERT_FALSE(open.ok());
    EXPECT_EQ(open.error(), (Error{Code::conflict,
                                   "line 2 is \"# llmgw-slurm begin\" without its \"# llmgw-slurm end\"; "
                                   "remove what is left of these lines by hand"}));
    const Result<Unmarked> closed = unmark("a\n# llmgw-slurm end\n");
    ASSERT_FALSE(closed.ok());
    EXPECT_EQ(closed.error().code, Code::conflict);
    EXPECT_FALSE(unmark(block.substr(0, block.rfind('#')) + block).ok());
}

TEST(MarkedFile, is_ours_by_its_first_line) {
    EXPECT_EQ(our_first_line("tests"), "# llmgw-slurm: tests; written by llmgw-slurm-helper\n");
    EXPECT_TRUE(is_ours(our_first_line("tests") + "x\n"));
    EXPECT_TRUE(is_ours("#!/bin/sh\n" + our_first_line("tests")));
    for (const char* text :
         {"", "x\n# llmgw-slurm: tests\n", "# llmgw-slurm begin: x\n", "#!/bin/sh", "#!/bin/sh\nx\n"}) {
        EXPECT_FALSE(is_ours(text)) << text;
    }
}

TEST(MarkedLines, are_dropped_where_they_are_ours) {
    const auto drop = [](std::string_view line) { return line == "x"; };
    EXPECT_EQ(without_marked_lines(our_first_line("t") + "x\ny\nx", drop), our_first_line("t") + "y\n");
    const std::string block = with_block("x\n", BlockPlace::end, "t", "y\n");
    EXPECT_EQ(without_marked_lines(with_block("x\n", BlockPlace::end, "t", "x\ny\n"), drop), block);
    EXPECT_EQ(without_marked_lines("x\ny\n", drop), "x\ny\n");
}

}  // namespace
}  // namespace llmgw
