#include "core/cluster_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/lending.hpp"

namespace llmgw {
namespace {

using cluster::dropin_path;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A machine whose state follows what the plan's actions do, as Slurm and systemd would.
struct FakeMachine {
    ResolvedSettings settings;
    SetupFacts facts;
    std::vector<std::string> did;

    explicit FakeMachine(const std::string& name) {
        settings.enabled = true;
        settings.cluster_name = "llmgw";
        settings.controller = "ctl";
        settings.partition = "gpu";
        settings.slurm_nodes = {"n1", "n2"};
        settings.hardware = {{"n1", {2, 1, 1, 2, 1, 4000, {0}}}, {"n2", {2, 1, 1, 2, 1, 4000, {}}}};
        facts.machine.machine = name;
        facts.machine.slurm = std::string("22.05.8");
        facts.platform = Platform{Family::deb, Architecture::amd64};
        facts.packages = PackageFacts{};
        facts.cluster.emplace();
        cluster().state_dir = "/var/lib/llmgw-slurm";
        cluster().munge_key = MungeKey::to_put;
        cluster().nodes = Error{Code::unavailable, "it does not run"};
    }
    ClusterFacts& cluster() { return *facts.cluster; }
    Plan plan() {
        const ClusterSteps steps = plan_cluster(settings, facts);
        Plan all = steps.before;
        all.insert(all.end(), steps.after.begin(), steps.after.end());
        return all;
    }
    const Step* next() {
        plan_ = plan();
        return next_step(plan_);
    }
    const Step& step(const std::string& name) {
        plan_ = plan();
        const auto found =
            std::find_if(plan_.begin(), plan_.end(), [&](const Step& each) { return each.name == name; });
        static const Step none;
        EXPECT_NE(found, plan_.end()) << name;
        return found == plan_.end() ? none : *found;
    }
    bool has_step(const std::string& name) {
        plan_ = plan();
        return std::any_of(plan_.begin(), plan_.end(), [&](const Step& each) { return each.name == name; });
    }
    SlurmNode* node(const std::string& name) {
        if (!cluster().nodes) return nullptr;
        for (SlurmNode& each : cluster().nodes.value()) {
            if (each.name == name) return &each;
        }
        return nullptr;
    }
    UnitFacts& unit(const std::string& name) {
        return name == cluster::munge_unit       ? cluster().munge
               : name == cluster::slurmctld_unit ? cluster().slurmctld
                                                 : cluster().slurmd;
    }
    // What slurmctld makes of its configuration: it knows old nodes as they were.
    void read_config() {
        const std::string& conf = cluster().files[cluster::slurm_conf].content;
        std::vector<SlurmNode> nodes;
        for (const std::string& name : nodes_in(conf)) {
            const SlurmNode* old = node(name);
            if (old != nullptr) {
                nodes.push_back(*old);
            } else if (begins_drained(conf, name)) {
                nodes.push_back({name, {"UNKNOWN", "DRAIN"}, std::string(our_drain), 0});
            } else {
                nodes.push_back({name, {"UNKNOWN"}, "", 0});
            }
        }
        cluster().nodes = nodes;
    }
    void perform(const Action& action) {
        if (const auto* write = std::get_if<action::WriteFiles>(&action)) {
            for (const MachineFile& file : write->files) {
                cluster().files[file.path] = file;
                if (file.path.starts_with("/etc/systemd/")) cluster().munge.needs_reload = true;
            }
        } else if (std::holds_alternative<action::ClaimCluster>(action)) {
            cluster().ours = true;
        } else if (std::holds_alternative<action::ReloadUnits>(action)) {
            cluster().munge.needs_reload = false;
        } else if (const auto* install = std::get_if<action::InstallPackages>(&action)) {
            for (const std::string& name : install->names) facts.packages.value().versions[name] = "1";
            cluster().munge_ours = true;
        } else if (std::holds_alternative<action::PutMungeKey>(action)) {
            cluster().munge_key = MungeKey::right;
        } else if (const auto* start = std::get_if<action::StartUnit>(&action)) {
            unit(start->unit) = {true, true, true, false, 1};
            if (start->unit == cluster::munge_unit) cluster().munge_stale = false;
            if (start->unit == cluster::slurmctld_unit) read_config();
            did.push_back("start " + start->unit);
        } else if (const auto* stop = std::get_if<action::StopUnit>(&action)) {
            unit(stop->unit) = {};
            did.push_back("stop " + stop->unit);
        } else if (const auto* tell = std::get_if<action::TellSlurm>(&action)) {
            cluster().told = tell->told;
            read_config();
            did.push_back(tell->restart ? "restart and reconfigure" : "reconfigure");
        } else if (const auto* drain = std::get_if<action::DrainNodes>(&action)) {
            for (const std::string& name : drain->nodes) {
                SlurmNode& each = *node(name);
                std::erase(each.state, "DRAIN");
                each.reason = our_drain;
                each.state.emplace_back("DRAIN");
                did.push_back("drain " + name);
            }
        }
    }
    // The names of the steps that it took; ends at one that can't be done.
    std::vector<std::string> work() {
        std::vector<std::string> names;
        for (int round = 0; round < 30; ++round) {
            const Step* step = next();
            if (step == nullptr || step->apply.empty()) break;
            names.push_back(step->name);
            for (const Action& each : std::vector<Action>(step->apply)) perform(each);
        }
        return names;
    }

  private:
    Plan plan_;
};

using Names = std::vector<std::string>;

TEST(ClusterPlan, of_a_machine_that_nobody_looked_at_is_empty) {
    FakeMachine machine("n1");
    machine.facts.cluster.reset();
    EXPECT_TRUE(machine.plan().empty());
}

TEST(ClusterPlan, of_a_machine_that_is_no_part_of_it_is_empty) {
    FakeMachine machine("n9");
    EXPECT_TRUE(machine.plan().empty());
    machine.settings = {};
    EXPECT_TRUE(machine.plan().empty());
}

TEST(ClusterPlan, leaves_a_sites_slurm_alone_and_says_what_it_needs) {
    FakeMachine machine("ctl");
    machine.cluster().site = "/etc/slurm/slurm.conf is not llmgw-slurm's";
    machine.cluster().site_conf = "ClusterName=x\nPrologFlags=Contain\n";
    ASSERT_EQ(machine.plan().size(), 1U);
    const Step& step = machine.step("site-slurm");
    EXPECT_FALSE(step.done);
    EXPECT_TRUE(step.advisory);
    EXPECT_TRUE(step.apply.empty());
    EXPECT_TRUE(has(step.finding, "needs \"JobSubmitPlugins=llmgw\" added")) << step.finding;
    EXPECT_EQ(machine.next(), nullptr);
    machine.cluster().site_conf += "JobSubmitPlugins=llmgw\n";
    EXPECT_TRUE(machine.step("site-slurm").done);
    // It is the controller's to say; and nothing is stopped when the settings are off.
    FakeMachine node("n1");
    node.cluster().site = "a slurmd runs that llmgw-slurm did not start";
    node.cluster().slurmd = {true, true, true, false, 1};
    EXPECT_TRUE(node.step("site-slurm").done);
    node.settings = {};
    EXPECT_TRUE(node.plan().empty());
}

TEST(ClusterPlan, touches_nothing_where_munge_has_another_key) {
    FakeMachine machine("n1");
    machine.cluster().munge_key = MungeKey::foreign;
    machine.cluster().munge_problem = "munge was here before";
    ASSERT_EQ(machine.plan().size(), 1U);
    EXPECT_TRUE(machine.work().empty());
    EXPECT_EQ(machine.next()->finding, "munge was here before");
}

TEST(ClusterPlan, makes_a_node_of_a_bare_machine) {
    FakeMachine machine("n1");
    machine.facts.machine.slurm = Error{Code::missing, "not installed"};
    EXPECT_EQ(machine.work(), (Names{"slurm-units", "slurm-packages", "munge-key", "munge", "slurmd"}));
    EXPECT_EQ(machine.next(), nullptr);
    EXPECT_EQ(machine.facts.packages.value().versions,
              (std::map<std::string, std::string>{{"munge", "1"}, {"slurm-client", "1"}, {"slurmd", "1"}}));
    const std::string unit = machine.cluster().files.at(dropin_path("slurmd.service")).content;
    // Debian 12's unit has a condition that a configless node can't fulfil; the empty one takes it away.
    EXPECT_TRUE(has(unit, "ConditionPathExists=\nConditionPathExists=/var/lib/llmgw-slurm/may-run.slurmd\n"));
    EXPECT_TRUE(has(unit, "--conf-server ctl:6817"));
    EXPECT_TRUE(has(unit, "Restart=on-failure"));
    EXPECT_FALSE(machine.cluster().files.contains(cluster::slurm_conf));
    EXPECT_FALSE(machine.cluster().files.contains(dropin_path("slurmctld.service")));
}

TEST(ClusterPlan, says_that_a_daemon_does_not_stay_and_goes_on) {
    FakeMachine machine("n1");
    machine.work();
    machine.cluster().slurmd.failing = true;
    machine.cluster().slurmd.running = false;
    EXPECT_TRUE(machine.step("slurmd").advisory);
    EXPECT_TRUE(has(machine.step("slurmd").finding, "journalctl -u slurmd"))
        << machine.step("slurmd").finding;
    EXPECT_EQ(machine.next(), nullptr);
}

TEST(ClusterPlan, the_units_are_told_when_they_may_start_before_their_packages_come) {
    FakeMachine machine("ctl");
    const Names names = machine.work();
    EXPECT_LT(std::find(names.begin(), names.end(), "slurm-units"),
              std::find(names.begin(), names.end(), "slurm-packages"));
    EXPECT_TRUE(has(machine.cluster().files.at(dropin_path("munge.service")).content, "may-run.munge"));
}

TEST(ClusterPlan, makes_a_controller_of_a_bare_machine_with_all_nodes_drained) {
    FakeMachine machine("ctl");
    EXPECT_EQ(machine.work(), (Names{"slurm-units", "slurm-packages", "munge-key", "munge", "slurm-config",
                                     "slurmctld", "slurm-config", "slurm-reconfigure"}));
    EXPECT_EQ(machine.next(), nullptr);
    EXPECT_EQ(machine.did, (Names{"start munge.service", "start slurmctld.service", "reconfigure"}));
    for (const char* node : {"n1", "n2"}) EXPECT_EQ(machine.node(node)->reason, our_drain) << node;
    EXPECT_FALSE(has(machine.cluster().files[cluster::slurm_conf].content, "State=DRAIN"));
}

TEST(ClusterPlan, a_configuration_is_tried_before_it_is_put_in_place) {
    FakeMachine machine("ctl");
    const Step* step = nullptr;
    while ((step = machine.next()) != nullptr && step->name != "slurm-config") {
        for (const Action& each : std::vector<Action>(step->apply)) machine.perform(each);
    }
    ASSERT_NE(step, nullptr);
    ASSERT_EQ(step->apply.size(), 2U);
    const auto* trial = std::get_if<action::TrySlurmConfig>(&step->apply[0]);
    const auto* write = std::get_if<action::WriteFiles>(&step->apply[1]);
    ASSERT_NE(trial, nullptr);
    ASSERT_NE(write, nullptr);
    ASSERT_EQ(write->files.size(), 3U);
    EXPECT_EQ(trial->config.slurm_conf, write->files[0].content);
}

TEST(ClusterPlan, waits_for_the_first_node_without_standing_in_anybodys_way) {
    FakeMachine machine("ctl");
    machine.settings.hardware.clear();
    EXPECT_EQ(machine.work(), (Names{"slurm-units", "slurm-packages", "munge-key", "munge"}));
    EXPECT_EQ(machine.next(), nullptr);
    EXPECT_TRUE(machine.step("slurm-config").advisory);
    EXPECT_TRUE(has(machine.step("slurm-config").finding, "n1, n2"));
}

FakeMachine running_controller() {
    FakeMachine machine("ctl");
    machine.work();
    machine.did.clear();
    return machine;
}

TEST(ClusterPlan, a_node_that_joins_begins_drained) {
    FakeMachine machine = running_controller();
    machine.settings.slurm_nodes.emplace_back("n3");
    EXPECT_TRUE(machine.work().empty());  // it has not said what it has
    EXPECT_TRUE(has(machine.step("slurm-nodes").finding, "n3"));
    machine.settings.hardware["n3"] = {2, 1, 1, 2, 1, 4000, {}};
    machine.node("n1")->cpus_in_use = 1;
    EXPECT_EQ(machine.work(),
              (Names{"slurm-config", "slurm-reconfigure", "slurm-config", "slurm-reconfigure"}));
    EXPECT_EQ(machine.did, (Names{"restart and reconfigure", "reconfigure"}));
    EXPECT_EQ(machine.node("n3")->reason, our_drain);
    EXPECT_EQ(machine.node("n1")->cpus_in_use, 1U);
}

TEST(ClusterPlan, a_newer_slurm_needs_no_restart) {
    FakeMachine machine = running_controller();
    machine.facts.machine.slurm = std::string("24.11.5");
    machine.work();
    machine.did.clear();
    machine.settings.slurm_nodes.emplace_back("n3");
    machine.settings.hardware["n3"] = {2, 1, 1, 2, 1, 4000, {}};
    machine.work();
    EXPECT_EQ(machine.did, (Names{"reconfigure", "reconfigure"}));
}

TEST(ClusterPlan, a_node_that_leaves_goes_when_its_jobs_have_ended) {
    FakeMachine machine = running_controller();
    *machine.node("n2") = {"n2", {"MIXED"}, "", 1};
    machine.settings.slurm_nodes = {"n1"};
    EXPECT_EQ(machine.work(), (Names{"node-drains"}));
    EXPECT_EQ(machine.did, (Names{"drain n2"}));
    ASSERT_NE(machine.next(), nullptr);
    EXPECT_EQ(machine.next()->name, "slurm-leaving");
    EXPECT_TRUE(has(machine.next()->finding, "jobs still run on n2"));
    machine.node("n2")->cpus_in_use = 0;
    EXPECT_EQ(machine.work(), (Names{"slurm-config", "slurm-reconfigure"}));
    EXPECT_EQ(machine.node("n2"), nullptr);
    EXPECT_EQ(machine.next(), nullptr);
}

TEST(ClusterPlan, keeps_nodes_of_which_slurmctld_says_nothing) {
    FakeMachine machine = running_controller();
    machine.cluster().nodes = Error{Code::unavailable, "no answer"};
    machine.settings.slurm_nodes = {"n1"};
    EXPECT_TRUE(machine.work().empty());
    EXPECT_EQ(machine.next()->name, "node-drains");
    EXPECT_TRUE(has(machine.next()->finding, "no answer"));
}

TEST(ClusterPlan, leaves_it_to_a_nodes_own_helper_whose_the_node_is) {
    FakeMachine machine = running_controller();
    *machine.node("n1") = {"n1", {"IDLE"}, "", 0};
    EXPECT_TRUE(machine.work().empty());
    machine.settings.lent = {"n2"};
    EXPECT_TRUE(machine.work().empty());
}

TEST(ClusterPlan, drains_a_leaving_node_that_only_does_not_answer) {
    FakeMachine machine = running_controller();
    *machine.node("n1") = {"n1", {"DOWN"}, "Not responding", 1};
    *machine.node("n2") = {"n2", {"DOWN"}, "ann: broken", 1};
    machine.settings.slurm_nodes.clear();
    machine.work();
    EXPECT_EQ(machine.did, (Names{"drain n1"}));
    EXPECT_EQ(machine.node("n2")->reason, "ann: broken");
}

TEST(ClusterPlan, a_cluster_does_not_change_its_name_under_its_jobs) {
    FakeMachine machine = running_controller();
    machine.settings.cluster_name = "other";
    EXPECT_TRUE(machine.work().empty());
    EXPECT_TRUE(has(machine.next()->finding, "this cluster's name is llmgw"));
}

TEST(ClusterPlan, starts_munge_anew_with_another_key) {
    FakeMachine machine = running_controller();
    machine.cluster().munge_stale = true;
    EXPECT_EQ(machine.work(), (Names{"munge"}));
}

TEST(ClusterPlan, switched_off_it_stops_when_jobs_have_ended_and_removes_nothing) {
    FakeMachine machine = running_controller();
    *machine.node("n1") = {"n1", {"MIXED"}, "", 1};
    machine.settings = {};
    EXPECT_EQ(machine.work(), (Names{"slurm-emptied"}));
    EXPECT_EQ(machine.did, (Names{"drain n1"}));
    EXPECT_TRUE(has(machine.next()->finding, "jobs still run on n1"));
    machine.node("n1")->cpus_in_use = 0;
    EXPECT_EQ(machine.work(), (Names{"slurmctld-stopped", "munge-stopped"}));
    EXPECT_EQ(machine.next(), nullptr);
    EXPECT_TRUE(machine.facts.packages.value().versions.contains("slurmctld"));

    FakeMachine node("n1");
    node.work();
    node.settings = {};
    node.cluster().steps = {"4711.0"};
    EXPECT_TRUE(node.work().empty());
    EXPECT_TRUE(has(node.next()->finding, "4711.0"));
    node.cluster().steps.clear();
    EXPECT_EQ(node.work(), (Names{"slurmd-stopped", "munge-stopped"}));
    node.settings = running_controller().settings;
    EXPECT_EQ(node.work(), (Names{"munge", "slurmd"}));
}

TEST(ClusterPlan, leaves_a_sites_munge_running) {
    FakeMachine node("n1");
    node.work();
    node.cluster().munge_ours = false;
    node.settings = {};
    EXPECT_EQ(node.work(), (Names{"slurmd-stopped"}));
}

TEST(ClusterPlan, installs_no_slurm_where_it_does_not_know_the_packages) {
    FakeMachine machine("n1");
    machine.facts.platform = Platform{Family::rpm, Architecture::amd64};
    EXPECT_EQ(machine.work(), (Names{"slurm-units"}));
    EXPECT_TRUE(has(machine.next()->finding, "not ours to install"));
}

}  // namespace
}  // namespace llmgw
