#include "json/load.hpp"

#include <gtest/gtest.h>

#include "json/dump.hpp"

namespace llmgw::json {
namespace {

std::string nested(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}

TEST(Load, TellsWhereTheSyntaxIsWrong) {
    const Document document = load("{\n  \"a\": 1,\n  \"b\": x\n}");
    EXPECT_FALSE(document.root);
    ASSERT_EQ(document.problems.size(), 1U);
    EXPECT_EQ(document.problems[0].line, 3);
    EXPECT_EQ(document.problems[0].column, 8);
    EXPECT_EQ(document.problems[0].message, "not JSON: invalid token near 'x'");
}

TEST(Load, RefusesWhatOtherReadersAccept) {
    for (const char* text : {"{'a':1}",
                             "{a:1}",
                             "[1,]",
                             "[01]",
                             "[+1]",
                             "[.5]",
                             "[NaN]",
                             "[Infinity]",
                             "// x\n{}",
                             "[\"\t\"]",
                             "[\"\\x41\"]",
                             "[1e999]",
                             "[99999999999999999999]",
                             "[\"\\ud800\"]",
                             "[\"\\udc00x\"]",
                             "{\"a\" 1}",
                             "[1 2]",
                             "tru",
                             "[",
                             "{\"a\":"}) {
        const Document document = load(text);
        EXPECT_FALSE(document.root) << text;
        ASSERT_EQ(document.problems.size(), 1U) << text;
        EXPECT_GT(document.problems[0].line, 0) << text;
        EXPECT_GT(document.problems[0].column, 0) << text;
    }
}

TEST(Load, RefusesBytesThatAreNoText) {
    EXPECT_FALSE(load("[\"\xff\"]").root);
    EXPECT_FALSE(load("[\"\xc0\xaf\"]").root);
    const Document nul = load(std::string_view("[1,\n\0]", 6));
    ASSERT_EQ(nul.problems.size(), 1U);
    EXPECT_EQ(nul.problems[0].line, 2);
    EXPECT_EQ(nul.problems[0].column, 1);
    EXPECT_FALSE(load(R"({"\u0000":1})").root);
    EXPECT_FALSE(load(R"(["\u0000"])").root);
}

TEST(Load, MessagesArePrintable) {
    const Document document = load("[\x1b[31mred]");
    ASSERT_EQ(document.problems.size(), 1U);
    EXPECT_EQ(document.problems[0].message.find('\x1b'), std::string::npos);
}

TEST(Load, HasALimitOfBytes) {
    const Limits four{4, 16};
    EXPECT_TRUE(load("[12]", four).root);
    const Document larger = load("[12] ", four);
    EXPECT_FALSE(larger.root);
    EXPECT_EQ(larger.problems.at(0).code, Code::too_large);
}

TEST(Load, HasALimitOfDepth) {
    EXPECT_TRUE(load(nested(limits::json_depth)).root);
    const Document deeper = load("\n" + nested(limits::json_depth + 1));
    EXPECT_FALSE(deeper.root);
    ASSERT_EQ(deeper.problems.size(), 1U);
    EXPECT_EQ(deeper.problems[0].code, Code::too_large);
    EXPECT_EQ(deeper.problems[0].line, 2);
    EXPECT_EQ(deeper.problems[0].column, static_cast<int>(limits::json_depth) + 1);
    EXPECT_EQ(load(nested(400000)).problems.at(0).code, Code::too_large);
    EXPECT_FALSE(load(std::string(1000000, '[')).root);
}

TEST(Load, FindsWhatComesAfterTheDocumentAndReadsItStill) {
    const Document document = load("{\"a\":1}\n é");
    ASSERT_TRUE(document.root);
    ASSERT_EQ(document.problems.size(), 1U);
    EXPECT_EQ(document.problems[0].line, 2);
    EXPECT_EQ(document.problems[0].column, 2);
    EXPECT_EQ(load("1 2").problems.size(), 1U);
    EXPECT_EQ(load("\"a\"\"b\"").problems.size(), 1U);
    EXPECT_EQ(load("12]").problems.size(), 1U);
}

TEST(Load, FindsEveryKeyThatIsThereTwice) {
    const Document document = load(R"({"a":{"b":1,"b":2},"l":[0,{"c":1,"\u0063":2}],"a":3,"a":4})");
    ASSERT_TRUE(document.root);
    ASSERT_EQ(document.problems.size(), 3U);
    EXPECT_EQ(document.problems[0].key, "a.b");
    EXPECT_EQ(document.problems[1].key, "l[1].c");
    EXPECT_EQ(document.problems[2].key, "a");
    EXPECT_EQ(document.problems[2].message,
              "written 3 times, first in line 1, column 2, last in line 1, column 53: keep one");
    EXPECT_EQ(*document.root->find("a")->integer(), 4);
}

TEST(Load, ReadsEveryKindInOrder) {
    const Document document =
        load(R"({"z":null,"b":[true,false],"i":-9223372036854775808,"r":1.5,"t":"é\n\u00e9","o":{}})");
    ASSERT_TRUE(document.problems.empty());
    Value expected;
    expected.set("z", Value())
        .set("b", Value::Array{true, false})
        .set("i", std::int64_t{INT64_MIN})
        .set("r", 1.5);
    expected.set("t", "é\né").set("o", Value::Object{});
    EXPECT_EQ(*document.root, expected);
    EXPECT_EQ(document.root->object()->front().first, "z");
    EXPECT_EQ(*load(" true ").root, Value(true));
}

TEST(Parse, GivesTheFirstProblemWithItsPlace) {
    EXPECT_EQ(parse("[1").error().message.substr(0, 16), "line 1, column 2");
    EXPECT_EQ(parse(R"({"a":1,"a":2})").error().message.substr(0, 16), "a: written twice");
    EXPECT_EQ(parse("").error().code, Code::invalid);
    EXPECT_EQ(parse("[1]", {2, 16}).error().code, Code::too_large);
    EXPECT_EQ(parse("[1] 2").error().code, Code::invalid);
    EXPECT_EQ(parse("[1]").value(), Value(Value::Array{1}));
}

}  // namespace
}  // namespace llmgw::json
