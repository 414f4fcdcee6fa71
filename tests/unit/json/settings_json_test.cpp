#include "json/settings_json.hpp"

#include <gtest/gtest.h>

#include "core/settings_resolve.hpp"
#include "json/dump.hpp"
#include "posix/file.hpp"

namespace llmgw::json {
namespace {

Settings full() {
    return {true, "c", "ctl", {"n1", "n2"}, false, {"n1"}, "p", {"/s", "nas:/x", ""}, "llmgw", true};
}

TEST(SettingsJson, ErrorsSayWhereTheyAre) {
    EXPECT_EQ(text_of({"nodes[3]", "is wrong", 0, 0}), "nodes[3]: is wrong");
    EXPECT_EQ(text_of({"nodes", "written twice", 2, 3}), "nodes: written twice");
    EXPECT_EQ(text_of({"", "not JSON", 2, 3}), "2:3: not JSON");
    EXPECT_EQ(text_of({"", "empty", 0, 0}), "empty");
}

TEST(SettingsJson, ErrorsAsJson) {
    const std::vector<SettingError> errors = {{"", "not JSON", 2, 3}, {"users", "\"x\" is not known", 0, 0}};
    EXPECT_EQ(dump(to_value(errors)), R"({"errors":[{"key":"","message":"not JSON","line":2,"column":3},)"
                                      R"({"key":"users","message":"\"x\" is not known"}]})");
}

TEST(SettingsJson, WhatIsWrittenReadsBackAsEqual) {
    const ReadSettings read = read_settings_text(dump(to_value(full()), Layout::indented));
    EXPECT_TRUE(read.ok());
    EXPECT_EQ(read.settings, full());
    EXPECT_EQ(read_settings(to_value(Settings{})).settings, Settings{});
}

TEST(SettingsJson, NotEnabledResolvesToThatAlone) {
    EXPECT_EQ(dump(to_value(ResolvedSettings{})), R"({"enabled":false})");
}

TEST(SettingsJson, ResolvedSettings) {
    EXPECT_EQ(dump(to_value(resolve_settings(full(), {}))),
              R"({"enabled":true,"cluster_name":"c","controller":"ctl","partition":"p","all_nodes":false,)"
              R"("slurm_nodes":["n1","n2"],"lent":["n1"],"lent_unknown":[],)"
              R"("shared":{"source":"nfs","path":"/s","server":"","mount":"nas:/x"},)"
              R"("home":"/s/home/<login>","users":"llmgw","containers":true})");
}

TEST(SettingsJson, TheSampleIsFine) {
    const auto sample = read_file(LLMGW_SOURCE_DIR "/conf/settings.sample.json", 4096);
    ASSERT_TRUE(sample.ok()) << sample.error().message;
    const ReadSettings read = read_settings_text(sample.value());
    EXPECT_TRUE(read.ok()) << text_of(read.errors.front());
    EXPECT_TRUE(read.settings.enabled);
}

TEST(SettingsJson, ALargeClusterIsReadInTime) {
    Settings settings;
    settings.enabled = true;
    settings.controller = "ctl";
    for (int number = 0; number < 15000; ++number)
        settings.nodes.push_back("gpu-node-" + std::to_string(number) + ".example");
    settings.lent = settings.nodes;
    EXPECT_TRUE(read_settings_text(dump(to_value(settings))).ok());
}

}  // namespace
}  // namespace llmgw::json
