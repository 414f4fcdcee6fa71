#include "leader/patch.hpp"

#include <gtest/gtest.h>

#include "json/dump.hpp"
#include "json/load.hpp"

namespace llmgw::leader {
namespace {

std::string patched(const std::string& settings, const std::string& patch) {
    return json::dump(applied(json::parse(settings).value(), read_patch(patch).value()));
}

TEST(Patch, RefusesWhatItDoesNotUnderstand) {
    for (const std::string text :
         {"", "[]", "1", R"({"nodes":[]})", R"({"lent":["n1"]})", R"({"lent":{"add":"n1"}})",
          R"({"lent":{"add":[1]}})", R"({"lent":{"set":[]}})", R"({"containers":"on"})",
          R"({"containers":null})", R"({"containers":true,"containers":false})",
          R"({"lent":{"add":["n1"],"remove":["n1"]}})", R"({"containers":true} x)"}) {
        EXPECT_FALSE(read_patch(text).ok()) << text;
    }
}

TEST(Patch, ReadsAReclaimThatIsNoSetting) {
    const std::string text = R"({"lent":{"remove":["n1"]},"reclaim":{"deadline":9,"then":"requeue"}})";
    EXPECT_EQ(read_patch(text).value().reclaim, (Reclaim{9, "requeue"}));
    EXPECT_EQ(patched(R"({"lent":["n1"]})", text), R"({"lent":[]})");
    for (const std::string wrong :
         {"null", "{}", R"({"deadline":9})", R"({"deadline":"9","then":"cancel"})",
          R"({"deadline":9,"then":"kill"})", R"({"deadline":-1,"then":"cancel"})"}) {
        EXPECT_FALSE(read_patch(R"({"lent":{"remove":["n1"]},"reclaim":)" + wrong + "}").ok()) << wrong;
    }
}

TEST(Patch, SaysWhatCanBeChanged) {
    EXPECT_EQ(read_patch(R"({"nodes":[]})").error().message,
              "nodes: only lent and containers can be changed here; edit settings.json for the rest");
}

TEST(Patch, ChangesWhatItNamesAndNothingElse) {
    const std::string settings = R"({"nodes":["n1","n2"],"lent":["n2"],"later":1})";
    EXPECT_EQ(patched(settings, "{}"), settings);
    EXPECT_EQ(patched(settings, R"({"lent":{"add":["n1","n2","n1"]}})"),
              R"({"nodes":["n1","n2"],"lent":["n2","n1"],"later":1})");
    EXPECT_EQ(patched(settings, R"({"lent":{"remove":["n2","n9"]},"containers":true})"),
              R"({"nodes":["n1","n2"],"lent":[],"later":1,"containers":true})");
    EXPECT_EQ(patched("{}", R"({"lent":{"add":["n1"]}})"), R"({"lent":["n1"]})");
}

}  // namespace
}  // namespace llmgw::leader
