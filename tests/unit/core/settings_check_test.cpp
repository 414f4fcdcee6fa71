// The rules on plain settings, without a document. From documents: tests/unit/json/settings_rules_test.cpp.
#include "core/settings_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace llmgw {
namespace {

std::vector<std::string> keys(const std::vector<SettingError>& errors) {
    std::vector<std::string> result;
    for (const SettingError& error : errors) result.push_back(error.key);
    return result;
}

using Keys = std::vector<std::string>;

Settings broken() {
    Settings settings;
    settings.enabled = true;
    settings.cluster_name = "-c";
    settings.nodes = {"n1", "", "n1"};
    settings.lent = {"n9", "n1", "n1"};
    settings.partition = "a b";
    settings.shared = {"", "nas", "n8"};
    settings.users = "ldap";
    return settings;
}

TEST(CheckSettings, TellsEverythingAtOnceInTheOrderOfTheKeys) {
    EXPECT_EQ(keys(check_settings(broken())),
              (Keys{"cluster_name", "controller", "nodes[1]", "nodes[2]", "lent[2]", "lent[0]", "partition",
                    "shared.path", "shared.nfs", "shared.server", "shared.server", "users"}));
}

TEST(CheckSettings, EveryMessageIsOneLineThatSaysWhatIsAllowed) {
    Settings settings = broken();
    settings.controller = "a\nb\x1b[0m";
    for (const SettingError& error : check_settings(settings)) {
        EXPECT_TRUE(std::none_of(error.message.begin(), error.message.end(), [](char c) {
            return c >= 0 && c < ' ';
        })) << error.message;
        EXPECT_NE(error.message.find(": "), std::string::npos) << error.message;
    }
}

TEST(CheckSettings, ALongNameIsCutInItsMessage) {
    Settings settings;
    settings.enabled = true;
    settings.controller = std::string(100000, 'x');
    const auto errors = check_settings(settings);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_LT(errors[0].message.size(), 250U);
}

TEST(CheckSettings, LeavesOutRulesOfWhatWasNotRead) {
    Settings without_nodes = broken();
    without_nodes.nodes.clear();
    EXPECT_EQ(keys(check_settings(without_nodes, {"controller", "nodes", "shared"})),
              (Keys{"cluster_name", "lent[2]", "partition", "users"}));
    EXPECT_EQ(keys(check_settings(broken(), {"controller", "all_nodes", "shared.path"})),
              (Keys{"cluster_name", "nodes[1]", "nodes[2]", "lent[2]", "partition", "shared.nfs",
                    "shared.server", "users"}));
    EXPECT_EQ(keys(check_settings(broken(), {"nodes[1]", "lent[0]", "lent[2]", "shared", "cluster_name"})),
              (Keys{"cluster_name", "controller", "nodes[2]", "partition", "users"}));
}

TEST(CheckSettings, NotEnabledIsNotChecked) {
    Settings settings = broken();
    settings.enabled = false;
    EXPECT_TRUE(check_settings(settings).empty());
    EXPECT_FALSE(check_settings(settings, {"enabled"}).empty());
}

TEST(CheckSettings, AControllerAloneIsEnough) {
    Settings settings;
    settings.enabled = true;
    settings.controller = "ctl";
    EXPECT_TRUE(check_settings(settings).empty());
}

}  // namespace
}  // namespace llmgw
