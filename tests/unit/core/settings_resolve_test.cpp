#include "core/settings_resolve.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Names = std::vector<std::string>;

Settings small() {
    Settings settings;
    settings.enabled = true;
    settings.controller = "ctl";
    settings.nodes = {"n2", "n1"};
    return settings;
}

TEST(ResolveSettings, NotEnabledKeepsNothing) {
    Settings settings = small();
    settings.enabled = false;
    settings.lent = {"n1"};
    settings.all_nodes = true;
    settings.containers = true;
    settings.shared.path = "/shared";
    EXPECT_EQ(resolve_settings(settings, {"n1", "n9"}), ResolvedSettings{});
}

TEST(ResolveSettings, HomesOfNobodyLeadElsewhere) {
    const ResolvedSettings resolved = resolve_settings(small(), {});
    for (const char* login : {"", "..", "../etc", "a/b", ".ssh", "a\n"}) {
        const auto home = resolved.home_of(login);
        ASSERT_FALSE(home.ok()) << login;
        EXPECT_EQ(home.error().code, Code::invalid);
    }
}

TEST(ResolveSettings, FillsInDefaults) {
    const ResolvedSettings resolved = resolve_settings(small(), {});
    EXPECT_TRUE(resolved.enabled);
    EXPECT_EQ(resolved.cluster_name, "llmgw");
    EXPECT_EQ(resolved.partition, "gpu");
    EXPECT_EQ(resolved.users, Users::site);
    EXPECT_EQ(resolved.shared, SharedSource::none);
    EXPECT_EQ(resolved.home_of("anna").value(), "/home/anna");
    EXPECT_FALSE(resolved.containers);
}

TEST(ResolveSettings, KeepsWhatIsGiven) {
    Settings settings = small();
    settings.cluster_name = "c";
    settings.partition = "p";
    settings.users = "llmgw";
    settings.containers = true;
    const ResolvedSettings resolved = resolve_settings(settings, {});
    EXPECT_EQ(resolved.cluster_name, "c");
    EXPECT_EQ(resolved.partition, "p");
    EXPECT_EQ(resolved.users, Users::llmgw);
    EXPECT_TRUE(resolved.containers);
}

TEST(ResolveSettings, WithoutAllNodesOnlyNodesRunSlurmd) {
    const ResolvedSettings resolved = resolve_settings(small(), {"ctl", "n1", "n9"});
    EXPECT_EQ(resolved.slurm_nodes, (Names{"n2", "n1"}));
    EXPECT_FALSE(resolved.runs_slurmd("ctl"));
    EXPECT_FALSE(resolved.runs_slurmd("n9"));
    EXPECT_TRUE(resolved.runs_slurmd("n1"));
}

TEST(ResolveSettings, UnderAllNodesEveryKnownMachineRunsSlurmdInAStableOrder) {
    Settings settings = small();
    settings.all_nodes = true;
    const ResolvedSettings resolved = resolve_settings(settings, {"z", "n1", "a", "ctl", "z"});
    EXPECT_EQ(resolved.slurm_nodes, (Names{"n2", "n1", "a", "ctl", "z"}));
    EXPECT_EQ(resolve_settings(settings, {"ctl", "a", "z", "n1"}), resolved);
}

TEST(ResolveSettings, UnderAllNodesTheControllerCountsBeforeItsFirstReport) {
    Settings settings = small();
    settings.all_nodes = true;
    EXPECT_EQ(resolve_settings(settings, {}).slurm_nodes, (Names{"n2", "n1", "ctl"}));
    settings.nodes = {"ctl", "n1"};
    EXPECT_EQ(resolve_settings(settings, {"ctl"}).slurm_nodes, (Names{"ctl", "n1"}));
}

TEST(ResolveSettings, PassesOverMachinesWithoutAProperName) {
    Settings settings = small();
    settings.all_nodes = true;
    EXPECT_EQ(resolve_settings(settings, {"", "n1 n2", "../x"}).slurm_nodes, (Names{"n2", "n1", "ctl"}));
}

TEST(ResolveSettings, TellsLentNodesFromThoseNobodyKnows) {
    Settings settings = small();
    settings.all_nodes = true;
    settings.lent = {"n9", "n1", "later"};
    const ResolvedSettings resolved = resolve_settings(settings, {"n9"});
    EXPECT_EQ(resolved.lent, (Names{"n9", "n1"}));
    EXPECT_EQ(resolved.lent_unknown, (Names{"later"}));
    EXPECT_TRUE(resolved.is_lent("n9"));
    EXPECT_FALSE(resolved.is_lent("later"));
    EXPECT_FALSE(resolved.is_lent("n2"));
}

TEST(ResolveSettings, WorksOutWhereTheSharedPathComesFrom) {
    Settings settings = small();
    settings.shared.path = "/shared";
    ResolvedSettings resolved = resolve_settings(settings, {});
    EXPECT_EQ(resolved.shared, SharedSource::site);
    EXPECT_EQ(resolved.mount_source, "");
    EXPECT_FALSE(resolved.mounts_shared("n1"));
    EXPECT_EQ(resolved.home_of("anna").value(), "/shared/home/anna");

    settings.shared.nfs = "2001:db8::1:/x";
    resolved = resolve_settings(settings, {});
    EXPECT_EQ(resolved.shared, SharedSource::nfs);
    EXPECT_EQ(resolved.mount_source, "[2001:db8::1]:/x");
    EXPECT_TRUE(resolved.mounts_shared("n1"));

    settings.shared.nfs.clear();
    settings.shared.server = "n1";
    resolved = resolve_settings(settings, {});
    EXPECT_EQ(resolved.shared, SharedSource::server);
    EXPECT_EQ(resolved.mount_source, "n1:/shared");
    EXPECT_FALSE(resolved.mounts_shared("n1"));
    EXPECT_TRUE(resolved.mounts_shared("ctl"));
}

}  // namespace
}  // namespace llmgw
