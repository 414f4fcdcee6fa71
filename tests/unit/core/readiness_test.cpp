#include "core/readiness.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

const WantedVersions wanted{"0.24.0", "4.2.1"};
constexpr std::int64_t now = 1'700'000'000;

ResolvedSettings cluster(std::vector<std::string> nodes) {
    ResolvedSettings settings;
    settings.enabled = true;
    settings.cluster_name = "llmgw";
    settings.controller = "ctl";
    settings.slurm_nodes = std::move(nodes);
    settings.containers = true;
    return settings;
}

KnownMachine ready(const std::string& name) {
    KnownMachine machine;
    machine.report = {
        name,        true,   "pyxis 0.24.0, enroot 4.2.1", {{"pyxis", "0.24.0"}, {"enroot", "4.2.1"}},
        "some-boot", "0.1.0", {}};
    machine.received = now - 1;
    return machine;
}

KnownMachine waiting(const std::string& name, const std::string& reason) {
    KnownMachine machine = ready(name);
    machine.report.ready = false;
    machine.report.reason = reason;
    return machine;
}

KnownMachines reports(std::vector<KnownMachine> machines) {
    return {7, now, std::move(machines)};
}

std::string clock(std::int64_t seconds) {
    return "<" + std::to_string(seconds) + ">";
}

Readiness assessed(const ResolvedSettings& settings, const KnownMachines& machines,
                   GateOverride forced = GateOverride::automatic) {
    return assess(settings, machines, wanted, forced, clock);
}

TEST(Assess, closes_a_cluster_that_an_administrator_closed_although_all_are_ready) {
    const Readiness readiness =
        assessed(cluster({"n1"}), reports({ready("ctl"), ready("n1")}), GateOverride::closed);
    EXPECT_FALSE(readiness.open);
    EXPECT_EQ(readiness.message,
              "llmgw: an administrator has closed this cluster for container jobs. Plain jobs run. "
              "\"llmgw-slurm status\" shows when that changes.");
    EXPECT_TRUE(readiness.machines.at(1).ready);
}

TEST(Assess, opens_a_cluster_that_an_administrator_opened_whatever_is_missing) {
    ResolvedSettings off = cluster({"n1"});
    off.containers = false;
    for (const ResolvedSettings& settings : {cluster({"n1"}), off, ResolvedSettings{}}) {
        const Readiness readiness = assessed(settings, reports({}), GateOverride::open);
        EXPECT_TRUE(readiness.open);
        EXPECT_EQ(readiness.message,
                  "llmgw: an administrator has opened this cluster for container jobs, whatever the machines "
                  "say; a machine that is not ready still refuses them itself.");
    }
}

TEST(Assess, closes_a_cluster_that_is_switched_off) {
    const Readiness readiness = assessed({}, reports({ready("ctl")}));
    EXPECT_FALSE(readiness.open);
    EXPECT_EQ(readiness.message,
              "llmgw: this cluster is switched off in llmgw's settings, and with it containers. Plain jobs "
              "run.");
    EXPECT_TRUE(readiness.machines.empty());
}

TEST(Assess, closes_a_cluster_without_containers) {
    ResolvedSettings settings = cluster({"n1"});
    settings.containers = false;
    const Readiness readiness = assessed(settings, reports({ready("ctl"), ready("n1")}));
    EXPECT_FALSE(readiness.open);
    EXPECT_EQ(readiness.message,
              "llmgw: containers are switched off on this cluster. Plain jobs run. An administrator switches "
              "them on with \"llmgw-slurm containers on\".");
    EXPECT_EQ(readiness.machines.size(), 2U);
}

TEST(Assess, opens_when_all_machines_are_ready) {
    const Readiness readiness = assessed(
        cluster({"n1", "n2"}), reports({ready("n2"), ready("n1"), ready("ctl"), ready("elsewhere")}));
    EXPECT_TRUE(readiness.open);
    EXPECT_EQ(readiness.message,
              "llmgw: containers are ready: all 3 machines have pyxis 0.24.0 and enroot 4.2.1.");
    const std::vector<MachineStatus> machines{{"ctl", true, "pyxis 0.24.0, enroot 4.2.1"},
                                              {"n1", true, "pyxis 0.24.0, enroot 4.2.1"},
                                              {"n2", true, "pyxis 0.24.0, enroot 4.2.1"}};
    EXPECT_EQ(readiness.machines, machines);
}

TEST(Assess, waits_for_a_machine_that_never_reported) {
    const Readiness readiness = assessed(cluster({"n1"}), reports({ready("ctl")}));
    EXPECT_FALSE(readiness.open);
    EXPECT_EQ(
        readiness.message,
        "llmgw: containers are not ready on this cluster: 1 of 2 machines have pyxis 0.24.0 and enroot "
        "4.2.1; waiting for n1 (no report yet). Plain jobs run. \"llmgw-slurm status\" shows progress.");
    EXPECT_EQ(readiness.machines.at(1), (MachineStatus{"n1", false, "no report yet"}));
}

TEST(Assess, does_not_trust_a_machine_that_fell_silent) {
    KnownMachine node = ready("n1");
    node.received = now - limits::report_silent_after.count();
    EXPECT_TRUE(assessed(cluster({"n1"}), reports({ready("ctl"), node})).open);
    --node.received;
    const Readiness readiness = assessed(cluster({"n1"}), reports({ready("ctl"), node}));
    EXPECT_FALSE(readiness.open);
    EXPECT_EQ(readiness.machines.at(1).reason, "no report since " + clock(node.received));
}

TEST(Assess, wants_exactly_the_pinned_versions) {
    KnownMachine other_pyxis = ready("n1");
    other_pyxis.report.versions["pyxis"] = "0.23.0";
    KnownMachine other_enroot = ready("n2");
    other_enroot.report.versions["enroot"] = "4.2.10";
    KnownMachine says_nothing = ready("n3");
    says_nothing.report.versions.clear();
    const Readiness readiness = assessed(cluster({"n1", "n2", "n3"}),
                                         reports({ready("ctl"), other_pyxis, other_enroot, says_nothing}));
    EXPECT_FALSE(readiness.open);
    EXPECT_EQ(readiness.machines.at(1).reason, "has pyxis 0.23.0, not 0.24.0");
    EXPECT_EQ(readiness.machines.at(2).reason, "has enroot 4.2.10, not 4.2.1");
    EXPECT_EQ(readiness.machines.at(3).reason, "has pyxis of an unknown version, not 0.24.0");
}

TEST(Assess, names_five_machines_and_counts_the_others) {
    std::vector<std::string> nodes;
    std::vector<KnownMachine> machines{ready("ctl")};
    for (int i = 1; i <= 7; ++i) {
        nodes.push_back("n" + std::to_string(i));
        machines.push_back(waiting(nodes.back(), "pyxis is not in plugstack.conf"));
    }
    const auto message_of = [&](std::size_t count) {
        return assessed(cluster({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count)}),
                        reports(machines))
            .message;
    };
    EXPECT_NE(message_of(5).find("n5 (pyxis is not in plugstack.conf). Plain jobs run."), std::string::npos);
    EXPECT_NE(message_of(6).find("n5 (pyxis is not in plugstack.conf) and 1 more. Plain"), std::string::npos);
    EXPECT_NE(message_of(7).find(" and 2 more."), std::string::npos);
    EXPECT_EQ(message_of(7).find("n6"), std::string::npos);
}

TEST(Assess, keeps_the_message_within_its_limit_and_on_one_line) {
    std::vector<std::string> nodes;
    std::vector<KnownMachine> machines{ready("ctl")};
    for (int i = 0; i < 5; ++i) {
        nodes.push_back(std::string(62, 'n') + std::to_string(i));
        machines.push_back(waiting(nodes.back(), std::string(limits::message_bytes, 'x')));
    }
    const std::string message = assessed(cluster(nodes), reports(machines)).message;
    EXPECT_LE(message.size(), limits::message_bytes);
    EXPECT_NE(message.find(nodes[4] + " (xxx"), std::string::npos);
    EXPECT_NE(message.find("xxx...). Plain jobs run."), std::string::npos);

    // Another machine's words must not steer the terminal of whoever submits.
    const std::string hostile = assessed(cluster({"n1"}), reports({ready("ctl"), waiting("n1",
                                                                                         "a\x1b[2J\xc2\x9b"
                                                                                         "31m\nb")}))
                                    .message;
    EXPECT_NE(hostile.find("n1 (a?[2J?31m?b)"), std::string::npos) << hostile;
}

TEST(Assess, counts_a_controller_that_runs_slurmd_once) {
    const Readiness readiness = assessed(cluster({"n1", "ctl"}), reports({ready("ctl"), ready("n1")}));
    ASSERT_EQ(readiness.machines.size(), 2U);
    EXPECT_EQ(readiness.machines[0].name, "ctl");
    EXPECT_EQ(readiness.machines[1].name, "n1");
    EXPECT_TRUE(readiness.open);
}

// Under all_nodes the resolved list has the controller and every machine that the leader knows, whatever it
// said of itself; one that is lent but unknown is in lent_unknown and has no report to wait for.
TEST(Assess, waits_for_every_known_machine_under_all_nodes) {
    ResolvedSettings settings = cluster({"n1", "ctl", "n2"});
    settings.all_nodes = true;
    settings.lent_unknown = {"n9"};
    const Readiness readiness =
        assessed(settings, reports({ready("ctl"), ready("n1"), waiting("n2", "enroot: not there")}));
    EXPECT_FALSE(readiness.open);
    ASSERT_EQ(readiness.machines.size(), 3U);
    EXPECT_EQ(readiness.machines[2], (MachineStatus{"n2", false, "enroot: not there"}));
}

TEST(Assess, needs_the_controller_although_no_node_runs_slurmd) {
    EXPECT_FALSE(assessed(cluster({}), reports({})).open);
    EXPECT_TRUE(assessed(cluster({}), reports({ready("ctl")})).open);
}

}  // namespace
}  // namespace llmgw
