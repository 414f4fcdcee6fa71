#include "posix/remembered.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

class RememberedAnswers : public testing::Test {
  protected:
    Result<int> ask(const std::string& state, Result<int> answer) {
        return remembered_.get("question", state, [&] {
            ++asked_;
            return answer;
        });
    }
    Remembered<int> remembered_;
    int asked_ = 0;
};

TEST_F(RememberedAnswers, are_kept_while_the_state_is_the_same) {
    EXPECT_EQ(ask("one", 1).value(), 1);
    EXPECT_EQ(ask("one", 2).value(), 1);
    EXPECT_EQ(asked_, 1);
    EXPECT_EQ(ask("two", 3).value(), 3);
    EXPECT_EQ(ask("one", 4).value(), 4);
    EXPECT_EQ(asked_, 3);
}

TEST_F(RememberedAnswers, an_error_is_none) {
    EXPECT_FALSE(ask("one", Error{Code::missing, "no"}).ok());
    EXPECT_EQ(ask("one", 2).value(), 2);
    EXPECT_FALSE(ask("two", Error{Code::missing, "no"}).ok());
    EXPECT_EQ(ask("one", 3).value(), 3);
}

TEST_F(RememberedAnswers, nothing_is_kept_without_a_state) {
    EXPECT_EQ(ask("", 1).value(), 1);
    EXPECT_EQ(ask("", 2).value(), 2);
}

TEST(StampsOf, are_others_when_one_file_is_another) {
    const test::TemporaryDirectory directory;
    const std::string first = directory.file("a");
    const std::string second = directory.file("b");
    std::ofstream(first) << "1";
    std::ofstream(second) << "2";
    const std::string before = stamps_of({first, second});
    EXPECT_FALSE(before.empty());
    EXPECT_EQ(stamps_of({first, second}), before);
    std::ofstream(second) << "33";
    EXPECT_NE(stamps_of({first, second}), before);
    EXPECT_EQ(stamps_of({first, directory.file("c")}), "");
}

}  // namespace
}  // namespace llmgw
