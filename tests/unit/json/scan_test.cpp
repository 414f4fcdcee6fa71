#include "json/scan.hpp"

#include <gtest/gtest.h>

namespace llmgw::json {
namespace {

TEST(Scan, KeysAreComparedByWhatTheySay) {
    const auto twice = [](std::string_view text) { return scan(text, 16).repeated.size(); };
    EXPECT_EQ(twice(R"({"a":1,"\u0061":2})"), 1U);
    EXPECT_EQ(twice(R"({"😀":1,"\ud83d\ude00":2})"), 1U);
    EXPECT_EQ(twice(R"({"/":1,"\/":2})"), 1U);
    EXPECT_EQ(twice(R"({"\"":1,"\u0022":2})"), 1U);
    EXPECT_EQ(twice(R"({"\\":1,"\u005c":2})"), 1U);
    EXPECT_EQ(twice(R"({"":1,"":2})"), 1U);
    EXPECT_EQ(twice(R"({"a":1,"A":2,"\\u0061":3})"), 0U);
}

TEST(Scan, ValuesAreNoKeys) {
    EXPECT_TRUE(scan(R"({"a":"a","b":"a","c":["a","a","b"],"d":{"a":"a"},"e":[{"a":1},{"a":1}]})", 16)
                    .repeated.empty());
    EXPECT_TRUE(scan(R"(["{\"a\":1,\"a\":2}","\\","a","a"])", 16).repeated.empty());
}

TEST(Scan, PathsAndPlaces) {
    const Scan found = scan("{\"é\":1,\n\"l\":[[],[{\"x\":1, \"x\":2}]]}", 16);
    ASSERT_EQ(found.repeated.size(), 1U);
    EXPECT_EQ(found.repeated[0], (Repeated{"l[1][0].x", {2, 11}, {2, 18}, 2}));
    EXPECT_EQ(scan(R"([0,{"a":1,"a":1}])", 16).repeated.at(0).path, "[1].a");
    EXPECT_EQ(scan("{\"a\\n\":1,\"a\\n\":1}", 16).repeated.at(0).path, "a?");
}

TEST(Scan, StopsPastTheDepth) {
    EXPECT_FALSE(scan("[[]]", 2).too_deep);
    EXPECT_EQ(scan("[[[]]]", 2).too_deep, (Place{1, 3}));
    EXPECT_FALSE(scan(R"(["[[["])", 1).too_deep);
    EXPECT_FALSE(scan("[[],[],{}]", 2).too_deep);
}

TEST(Scan, CountsCharactersNotBytes) {
    EXPECT_EQ(place_of("éa\nbé!", 3), (Place{1, 3}));
    EXPECT_EQ(place_of("éa\nbé!", 7), (Place{2, 3}));
    EXPECT_EQ(place_of("", 5), (Place{1, 1}));
}

}  // namespace
}  // namespace llmgw::json
