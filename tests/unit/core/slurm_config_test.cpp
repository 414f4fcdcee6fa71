#include "core/slurm_config.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

struct SlurmConfigTest : testing::Test {
    ResolvedSettings settings;
    std::map<std::string, NodeHardware> hardware{{"n1", {64, 1, 2, 16, 2, 515000, {0, 1, 2, 3}}},
                                                 {"n2", {2, 1, 1, 2, 1, 24105, {}}}};
    std::set<std::string> fresh;
    std::vector<std::string> leaving;
    std::string additions;
    SlurmConfig before;
    std::string slurm = "22.05.8";

    void SetUp() override {
        settings.enabled = true;
        settings.cluster_name = "llmgw";
        settings.controller = "ctl";
        settings.partition = "gpu";
        settings.slurm_nodes = {"n1", "n2"};
    }
    Result<SlurmConfig> made() {
        return slurm_config({settings, hardware, slurm, fresh, leaving, additions, before});
    }
    SlurmConfig config() {
        Result<SlurmConfig> result = made();
        EXPECT_TRUE(result.ok()) << result.error().message;
        return result ? std::move(result).value() : SlurmConfig{};
    }
};

TEST_F(SlurmConfigTest, of_no_node_is_none) {
    hardware.clear();
    EXPECT_EQ(made().error().code, Code::missing);
    EXPECT_TRUE(has(made().error().message, "n1, n2"));
    settings.slurm_nodes.clear();
    EXPECT_EQ(made().error().code, Code::missing);
}

TEST_F(SlurmConfigTest, says_what_the_cluster_is) {
    const SlurmConfig made = config();
    for (const char* line :
         {"ClusterName=llmgw\n", "SlurmctldHost=ctl\n", "SlurmctldParameters=enable_configless\n",
          "SlurmUser=slurm\n", "ProctrackType=proctrack/cgroup\n", "TaskPlugin=task/cgroup,task/affinity\n",
          "PrologFlags=Contain\n", "JobSubmitPlugins=llmgw\n", "SelectType=select/cons_tres\n",
          "NodeName=n1 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 "
          "RealMemory=504640 "
          "Gres=gpu:4\n",
          "NodeName=n2 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 "
          "RealMemory=23616\n",
          "PartitionName=gpu Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n"}) {
        EXPECT_TRUE(has(made.slurm_conf, line)) << line << made.slurm_conf;
    }
    EXPECT_TRUE(has(made.slurm_conf, "DefMemPerCPU=7885\n")) << made.slurm_conf;
    EXPECT_TRUE(has(made.gres_conf, "NodeName=n1 Name=gpu File=/dev/nvidia[0-3]\n"));
    EXPECT_FALSE(has(made.gres_conf, "n2"));
    EXPECT_TRUE(has(made.cgroup_conf, "ConstrainDevices=yes\n"));
    for (const std::string* text : {&made.slurm_conf, &made.cgroup_conf, &made.gres_conf}) {
        EXPECT_TRUE(is_our_config(*text));
    }
    EXPECT_EQ(nodes_in(made.slurm_conf), (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(made, config());
    EXPECT_FALSE(has(made.slurm_conf, "State=DRAIN"));
}

TEST_F(SlurmConfigTest, a_little_memory_more_or_less_changes_nothing) {
    const SlurmConfig first = config();
    hardware["n1"].memory_mb -= 3;
    EXPECT_EQ(config(), first);
}

TEST_F(SlurmConfigTest, follows_the_version) {
    EXPECT_FALSE(has(config().slurm_conf, "GLOB_SILENCE"));
    slurm = "24.11.5";
    EXPECT_TRUE(has(config().slurm_conf, "DebugFlags=GLOB_SILENCE\n"));
    EXPECT_TRUE(slurm_before("22.05.8", 23, 11));
    EXPECT_TRUE(slurm_before("23.02.1", 23, 11));
    EXPECT_FALSE(slurm_before("23.11.0", 23, 11));
    EXPECT_FALSE(slurm_before("24.05.0", 23, 11));
    EXPECT_FALSE(slurm_before("", 23, 11));
}

TEST_F(SlurmConfigTest, a_new_node_begins_drained_and_only_while_it_is_new) {
    fresh = {"n2"};
    const SlurmConfig first = config();
    EXPECT_TRUE(begins_drained(first.slurm_conf, "n2"));
    EXPECT_FALSE(begins_drained(first.slurm_conf, "n1"));
    EXPECT_TRUE(has(first.slurm_conf, "RealMemory=23616 State=DRAIN Reason=\"llmgw: not lent to Slurm\"\n"));
    fresh.clear();
    before = first;
    hardware.erase("n2");
    EXPECT_FALSE(begins_drained(config().slurm_conf, "n2"));
    EXPECT_EQ(nodes_in(config().slurm_conf), (std::vector<std::string>{"n1", "n2"}));
}

TEST_F(SlurmConfigTest, a_node_whose_report_got_lost_keeps_its_lines) {
    before = config();
    hardware.clear();
    EXPECT_EQ(config(), before);
}

TEST_F(SlurmConfigTest, one_that_still_has_jobs_stays) {
    before = config();
    settings.slurm_nodes = {"n2"};
    leaving = {"n1"};
    EXPECT_EQ(nodes_in(config().slurm_conf), (std::vector<std::string>{"n2", "n1"}));
    EXPECT_TRUE(has(config().gres_conf, "NodeName=n1 "));
    leaving.clear();
    EXPECT_EQ(nodes_in(config().slurm_conf), (std::vector<std::string>{"n2"}));
}

TEST_F(SlurmConfigTest, the_sites_lines_win) {
    additions = "# ours\nproctracktype=proctrack/linuxproc\nPartitionName=debug Nodes=n2\nMaxJobCount=50000";
    const std::string text = config().slurm_conf;
    EXPECT_FALSE(has(text, "proctrack/cgroup"));
    EXPECT_TRUE(has(text, "\nproctracktype=proctrack/linuxproc\n"));
    EXPECT_TRUE(has(text, "PartitionName=gpu "));
    EXPECT_TRUE(has(text, "PartitionName=debug "));
    EXPECT_TRUE(text.ends_with("MaxJobCount=50000\n"));
}

TEST_F(SlurmConfigTest, a_change_of_nodes_restarts_an_old_slurmctld_and_nothing_else_does) {
    const SlurmConfig first = config();
    EXPECT_FALSE(needs_restart(first, first, slurm));
    additions = "MaxJobCount=50000\n";
    EXPECT_FALSE(needs_restart(first, config(), slurm));
    fresh = {"n1"};
    EXPECT_FALSE(needs_restart(first, config(), slurm));
    hardware["n2"].gpus = {0};
    EXPECT_TRUE(needs_restart(first, config(), slurm));
    EXPECT_FALSE(needs_restart(first, config(), "23.11.4"));
    hardware["n2"].gpus = {};
    settings.slurm_nodes = {"n1"};
    EXPECT_TRUE(needs_restart(first, config(), slurm));
}

TEST_F(SlurmConfigTest, is_one_text_and_back) {
    const SlurmConfig first = config();
    EXPECT_EQ(config_from_text(first.text()), first);
    EXPECT_EQ(config_from_text("something"), SlurmConfig{});
    EXPECT_EQ(config_from_text(""), SlurmConfig{});
}

TEST_F(SlurmConfigTest, a_trial_leads_nowhere_else) {
    additions = "AccountingStorageType=accounting_storage/slurmdbd\nJobCompType=jobcomp/filetxt\n";
    const SlurmConfig trial = trial_config(config(), "/var/lib/x/trial");
    EXPECT_TRUE(has(trial.slurm_conf, "SlurmctldHost=ctl(127.0.0.1)\n"));
    EXPECT_TRUE(has(trial.slurm_conf, "RealMemory=23616 NodeAddr=127.0.0.1\n"));
    EXPECT_TRUE(has(trial.slurm_conf, "StateSaveLocation=/var/lib/x/trial/state\n"));
    for (const char* part : {"/var/lib/slurm/slurmctld", "/var/log/slurm/slurmctld", "AccountingStorage",
                             "JobComp", "configless"}) {
        EXPECT_FALSE(has(trial.slurm_conf, part)) << part;
    }
    EXPECT_TRUE(has(trial.slurm_conf, "JobSubmitPlugins=llmgw"));
}

TEST(SiteSlurmConf, lacks_what_it_does_not_say) {
    EXPECT_EQ(missing_in_site(""),
              (std::vector<std::string>{"JobSubmitPlugins=llmgw", "PrologFlags=Contain"}));
    EXPECT_EQ(missing_in_site("JobSubmitPlugins=lua,llmgw\nPrologFlags=alloc\n"),
              (std::vector<std::string>{"PrologFlags=Contain"}));
    EXPECT_TRUE(missing_in_site("jobsubmitplugins=LLMGW\nPrologFlags=X11\n").empty());
    EXPECT_EQ(missing_in_site("#JobSubmitPlugins=llmgw\nPrologFlags=Contain\nJobSubmitPlugins=llmgw2\n"),
              (std::vector<std::string>{"JobSubmitPlugins=llmgw"}));
    EXPECT_FALSE(is_our_config("ClusterName=x\n# llmgw-slurm: no\n"));
}

}  // namespace
}  // namespace llmgw
