#include "core/settings_parse.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(ParseSettings, RefusesADocumentThatIsNoObject) {
    for (const Value& document : {Value(), Value(true), Value("x"), Value(Value::Array{})}) {
        const ParsedSettings parsed = parse_settings(document);
        ASSERT_EQ(parsed.errors.size(), 1U);
        EXPECT_EQ(parsed.errors[0].key, "");
        EXPECT_NE(parsed.errors[0].message.find("must be an object"), std::string::npos);
    }
}

TEST(ParseSettings, TellsWhichKeysItCouldNotRead) {
    Value document;
    document.set("enabled", 1).set("nodes", Value::Array{"n1", 2, Value()}).set("shared", "x");
    const ParsedSettings parsed = parse_settings(document);
    EXPECT_EQ(parsed.errors.size(), 4U);
    EXPECT_EQ(parsed.unread, (std::set<std::string>{"enabled", "nodes[1]", "nodes[2]", "shared"}));
    EXPECT_EQ(parsed.settings.nodes, (std::vector<std::string>{"n1", "", ""}));
}

TEST(ParseSettings, KeysInErrorsArePrintable) {
    Value document;
    document.set("a\nb\x1b", 1);
    document.set("shared", Value(Value::Object{{std::string(500, 'x'), 1}}));
    const ParsedSettings parsed = parse_settings(document);
    ASSERT_EQ(parsed.errors.size(), 2U);
    EXPECT_EQ(parsed.errors[0].key, "a?b?");
    EXPECT_LT(parsed.errors[1].key.size(), 110U);
}

TEST(ParseSettings, HelpsWhoWroteItAsItStandsElsewhere) {
    Value document;
    document.set("slurm", Value::Object{}).set("shared.path", "/x");
    const ParsedSettings parsed = parse_settings(document);
    ASSERT_EQ(parsed.errors.size(), 2U);
    EXPECT_NE(parsed.errors[0].message.find("without that key around it"), std::string::npos);
    EXPECT_NE(parsed.errors[1].message.find("write \"shared\": {\"path\": ...}"), std::string::npos);
}

TEST(ParseSettings, ReadsEveryKey) {
    Value document;
    document.set("enabled", true).set("cluster_name", "c").set("controller", "ctl");
    document.set("nodes", Value::Array{"n1", "n2"}).set("all_nodes", true).set("lent", Value::Array{"n1"});
    document.set("partition", "p").set("users", "llmgw").set("containers", true);
    document.set("shared", Value::Object{{"path", "/s"}, {"nfs", "nas:/x"}, {"server", "n1"}});
    const ParsedSettings parsed = parse_settings(document);
    EXPECT_TRUE(parsed.errors.empty());
    EXPECT_TRUE(parsed.unread.empty());
    const Settings expected{true,    "c", "ctl", {"n1", "n2"}, true, {"n1"}, "p", {"/s", "nas:/x", "n1"},
                            "llmgw", true};
    EXPECT_EQ(parsed.settings, expected);
}

TEST(ParseSettings, WhatIsLeftOutIsEmpty) {
    EXPECT_EQ(parse_settings(Value(Value::Object{})).settings, Settings{});
}

}  // namespace
}  // namespace llmgw
