#include <gtest/gtest.h>

#include "service/cluster_paths.hpp"

namespace llmgw::service {
namespace {

TEST(UnitsOfSystemd, are_read_by_name) {
    const auto units = parse_units(
        "Id=munge.service\nActiveState=active\nUnitFileState=enabled\nActiveEnterTimestamp=@1764528053\n"
        "NeedDaemonReload=no\n"
        "\n"
        "Id=slurmd.service\nActiveState=activating\nSubState=auto-restart\nUnitFileState="
        "disabled\nActiveEnterTimestamp=\n"
        "NeedDaemonReload=yes\n"
        "\n"
        "Id=slurmctld.service\nActiveState=inactive\nUnitFileState=\nActiveEnterTimestamp=\nNeedDaemonReload="
        "no\n");
    ASSERT_EQ(units.size(), 3U);
    EXPECT_EQ(units.at("munge.service"), (UnitFacts{true, true, true, false, 1764528053}));
    EXPECT_EQ(units.at("slurmd.service"), (UnitFacts{false, true, false, true, 0, true}));
    EXPECT_EQ(units.at("slurmctld.service"), UnitFacts{});
    EXPECT_TRUE(parse_units("Failed to connect to bus: No such file or directory\n").empty());
}

}  // namespace
}  // namespace llmgw::service
