#include "posix/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace llmgw {
namespace {

std::string logged(Level level, const std::string& message) {
    testing::internal::CaptureStderr();
    log(level, message);
    return testing::internal::GetCapturedStderr();
}

class Log : public testing::Test {
  protected:
    void TearDown() override { ::unsetenv("JOURNAL_STREAM"); }
};

TEST_F(Log, is_one_plain_line) {
    ::unsetenv("JOURNAL_STREAM");
    EXPECT_EQ(logged(Level::error, "it broke"), "it broke\n");
}

TEST_F(Log, has_its_priority_where_the_journal_reads) {
    ::setenv("JOURNAL_STREAM", "8:1234", 1);
    EXPECT_EQ(logged(Level::error, "e"), "<3>e\n");
    EXPECT_EQ(logged(Level::warning, "w"), "<4>w\n");
    EXPECT_EQ(logged(Level::info, "i"), "<6>i\n");
}

// A line break in what another machine said would forge a line, and its priority.
TEST_F(Log, replaces_what_could_forge_a_line_or_steer_a_terminal) {
    EXPECT_EQ(logged(Level::info,
                     "a\n<3>b\x1b[2J\xc2\x9b"
                     "1m\xe2\x80\xae ä"),
              "a <3>b [2J 1m  ä\n");
}

}  // namespace
}  // namespace llmgw
