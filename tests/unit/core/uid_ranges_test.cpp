#include "core/uid_ranges.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(UidRanges, writes_numbers_in_turn_as_one_range) {
    EXPECT_EQ(UidRanges().text(100), "");
    EXPECT_EQ(UidRanges({200003, 200001, 200002, 200001, 200005}).text(100), "200001-200003,200005");
}

TEST(UidRanges, reads_what_it_writes) {
    for (const char* text : {"", "5", "1-2", "200000-200499,200501,200503-200504", "4294967294"}) {
        const Result<UidRanges> read = UidRanges::parse(text);
        ASSERT_TRUE(read.ok()) << text;
        EXPECT_EQ(read.value().text(1000), text);
    }
}

TEST(UidRanges, refuses_what_has_two_texts_or_none) {
    for (const char* text : {",", "1,", "1,,3", "a", "1-", "-1", "2-1", "1-1", "3,1", "1,2", "1-4,5", "1-4,3",
                             "01", "1 ", " 1", "4294967296", "1-4294967296", "1;3"}) {
        EXPECT_FALSE(UidRanges::parse(text).ok()) << text;
    }
}

TEST(UidRanges, knows_what_is_in_it) {
    const UidRanges ranges({3, 4, 5, 9});
    for (const Uid uid : {3U, 4U, 5U, 9U}) EXPECT_TRUE(ranges.contains(uid));
    for (const Uid uid : {0U, 2U, 6U, 8U, 10U, 4294967295U}) EXPECT_FALSE(ranges.contains(uid));
    EXPECT_FALSE(UidRanges().contains(0));
}

TEST(UidRanges, leaves_some_out) {
    const UidRanges ranges({1, 2, 3, 4, 5, 9});
    EXPECT_EQ(ranges.without({}).text(100), "1-5,9");
    EXPECT_EQ(ranges.without({1, 3, 5, 9, 77}).text(100), "2,4");
    EXPECT_EQ(ranges.without({1, 2, 3, 4, 5, 9}).text(100), "");
    EXPECT_EQ(ranges.without({2, 3}).text(100), "1,4-5,9");
}

TEST(UidRanges, cuts_between_ranges) {
    const UidRanges ranges({10, 12, 14});
    EXPECT_EQ(ranges.text(8), "10,12,14");
    EXPECT_EQ(ranges.text(7), "10,12");
    EXPECT_EQ(ranges.text(1), "");
}

}  // namespace
}  // namespace llmgw
