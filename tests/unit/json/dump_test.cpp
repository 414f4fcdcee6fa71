#include "json/dump.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "json/load.hpp"

namespace llmgw::json {
namespace {

TEST(Dump, WhatJsonDoesNotHaveIsReplaced) {
    EXPECT_EQ(dump("a\xff\xc3"), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
    EXPECT_EQ(dump(std::nan("")), "null");
    EXPECT_EQ(dump(std::numeric_limits<double>::infinity()), "null");
}

TEST(Dump, EscapesWhatNeedsIt) {
    EXPECT_EQ(dump("a\"b\\c/\n\t\x01\x1f\x7f"), R"("a\"b\\c/\n\t\u0001\u001f\u007f")");
    EXPECT_EQ(dump("é😀"), "\"é😀\"");
    EXPECT_EQ(dump(Value(Value::Object{{"k\n", 1}})), R"({"k\n":1})");
}

TEST(Dump, Layouts) {
    Value value;
    value.set("b", Value::Array{1, 2}).set("a", Value::Object{}).set("c", Value::Array{});
    EXPECT_EQ(dump(value), R"({"b":[1,2],"a":{},"c":[]})");
    EXPECT_EQ(dump(value, Layout::compact, Order::sorted), R"({"a":{},"b":[1,2],"c":[]})");
    EXPECT_EQ(dump(value, Layout::indented),
              "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {},\n  \"c\": []\n}\n");
}

TEST(Dump, ReadsBackAsEqual) {
    const Value value = Value::Array{Value(),
                                     true,
                                     -1,
                                     std::int64_t{INT64_MIN},
                                     std::int64_t{INT64_MAX},
                                     0.1,
                                     1e300,
                                     -2.0,
                                     5e-324,
                                     1e21,
                                     "é\n\"\\",
                                     Value::Object{{"x", Value::Array{Value::Object{}}}, {"", 0}}};
    for (const Layout layout : {Layout::compact, Layout::indented}) {
        const auto again = parse(dump(value, layout));
        ASSERT_TRUE(again.ok()) << again.error().message;
        EXPECT_EQ(again.value(), value);
    }
}

}  // namespace
}  // namespace llmgw::json
