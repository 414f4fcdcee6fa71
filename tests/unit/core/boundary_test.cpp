#include "core/boundary.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace llmgw {
namespace {

struct Reports {
    std::vector<std::string> lines;
    auto into() {
        return [this](const char* entry, const char* what) {
            lines.push_back(std::string(entry) + ": " + what);
        };
    }
};

TEST(Contained, returns_what_its_body_returns) {
    Reports reports;
    EXPECT_EQ(contained("entry", 1, reports.into(), [] { return 7; }), 7);
    EXPECT_TRUE(reports.lines.empty());
}

TEST(Contained, reports_an_exception_once_and_fails) {
    Reports reports;
    EXPECT_EQ(contained("entry", -1, reports.into(), []() -> int { throw std::runtime_error("why"); }), -1);
    EXPECT_EQ(reports.lines, std::vector<std::string>{"entry: why"});
}

TEST(Contained, takes_running_out_of_memory_for_an_exception) {
    Reports reports;
    EXPECT_EQ(contained("entry", -1, reports.into(), []() -> int { throw std::bad_alloc(); }), -1);
    EXPECT_EQ(reports.lines.size(), 1U);
}

TEST(Contained, takes_anything_that_is_thrown) {
    Reports reports;
    EXPECT_EQ(contained("entry", 0, reports.into(), []() -> int { throw 7; }), 0);
    EXPECT_EQ(contained("entry", 0, reports.into(), []() -> int { throw std::string("text"); }), 0);
    EXPECT_EQ(reports.lines, (std::vector<std::string>(2, "entry: an unknown exception")));
}

TEST(Contained, is_noexcept) {
    static_assert(noexcept(contained(
        "entry", 0, [](const char*, const char*) {}, [] { return 0; })));
}

}  // namespace
}  // namespace llmgw
