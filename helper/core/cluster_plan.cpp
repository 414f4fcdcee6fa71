#include "core/cluster_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/contact_plan.hpp"
#include "core/plan_steps.hpp"
#include "core/slurm_config.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace cluster {

std::string permission(const std::string& state_dir, const std::string& unit) {
    return state_dir + "/may-run." + unit.substr(0, unit.find('.'));
}

std::string dropin_path(const std::string& unit) {
    return "/etc/systemd/system/" + unit + ".d/llmgw.conf";
}

}  // namespace cluster

namespace {

using Actions = std::vector<Action>;
using namespace cluster;

struct Sources {
    const ResolvedSettings& settings;
    const SetupFacts& facts;
    const ClusterFacts& cluster;
    bool controller = false;
    bool node = false;
};

Step only_says(Step step, std::string finding) {
    step.finding = std::move(finding);
    step.advisory = true;
    return step;
}

std::string short_name(const std::string& unit) {
    return unit.substr(0, unit.find('.'));
}

std::string content_of(const ClusterFacts& cluster, const std::string& path) {
    const auto found = cluster.files.find(path);
    return found == cluster.files.end() ? "" : found->second.content;
}

// ---- what is where

MachineFile dropin(const std::string& unit, const ClusterFacts& cluster, const std::string& reset,
                   const std::string& service) {
    return {dropin_path(unit),
            "# llmgw-slurm: starts only where and as llmgw's settings have it; docs/machine.md\n[Unit]\n" +
                reset + "ConditionPathExists=" + permission(cluster.state_dir, unit) + "\n" + service,
            0644};
}

std::vector<MachineFile> unit_files(const Sources& from) {
    // After the controller's start, or with a network that came late, the next attempt succeeds.
    const std::string again = "StartLimitIntervalSec=0\n[Service]\nRestart=on-failure\nRestartSec=5\n";
    std::vector<MachineFile> files{dropin(munge_unit, from.cluster, "", "")};
    if (from.controller)
        files.push_back(dropin(slurmctld_unit, from.cluster, "", "After=munge.service\n" + again));
    if (from.node) {
        // A node has no slurm.conf, which Debian 12's unit wants to see, and gets all from slurmctld.
        files.push_back(dropin(slurmd_unit, from.cluster, "ConditionPathExists=\n",
                               "After=munge.service slurmctld.service\n" + again +
                                   "EnvironmentFile=\nEnvironment=\"SLURMD_OPTIONS=--conf-server " +
                                   from.settings.controller + ":6817\"\n"));
    }
    return files;
}

SlurmConfig config_in_place(const ClusterFacts& cluster) {
    return {content_of(cluster, slurm_conf), content_of(cluster, cgroup_conf),
            content_of(cluster, gres_conf)};
}

// ---- steps

Step site_step(const Sources& from) {
    Step made = step("site-slurm", "use the Slurm that the site runs itself");
    const std::string whose = "Slurm here is the site's own (" + from.cluster.site + "), and stays as it is";
    if (!from.controller || from.cluster.site_conf.empty()) return is_done(std::move(made), whose);
    const std::vector<std::string> missing = missing_in_site(from.cluster.site_conf);
    if (missing.empty()) return is_done(std::move(made), whose);
    return only_says(std::move(made), whose + "; its slurm.conf needs \"" + join(missing, "\" and \"") +
                                          "\" added, and slurmctld a restart");
}

Step units_step(const Sources& from) {
    Step made = step("slurm-units", "say when and how munge and Slurm start");
    made.undo = "removes these settings of their units";
    std::vector<MachineFile> different;
    std::vector<std::string> names;
    Actions restarts;
    for (const MachineFile& file : unit_files(from)) {
        const auto there = from.cluster.files.find(file.path);
        if (there != from.cluster.files.end() && there->second == file) continue;
        names.push_back(file.path);
        different.push_back(file);
        // Its steps go on meanwhile (KillMode=process).
        if (file.path == dropin_path(slurmd_unit) && from.cluster.ours && from.cluster.slurmd.active)
            restarts.emplace_back(action::StartUnit{slurmd_unit, true});
    }
    const bool unread = from.cluster.munge.needs_reload || from.cluster.slurmctld.needs_reload ||
                        from.cluster.slurmd.needs_reload;
    if (different.empty() && !unread) return is_done(std::move(made), "their units are as they should be");
    Actions apply{action::ClaimCluster{}};
    if (!different.empty()) apply.emplace_back(action::WriteFiles{different});
    apply.emplace_back(action::ReloadUnits{});
    apply.insert(apply.end(), restarts.begin(), restarts.end());
    return is_missing(
        std::move(made),
        different.empty() ? "systemd has not read them yet" : "missing or different: " + join(names, ", "),
        apply);
}

Step packages_step(const Sources& from) {
    Step made = step("slurm-packages", "install munge and Slurm");
    made.undo = "removes those that we installed";
    if (!from.facts.packages) return is_missing(std::move(made), from.facts.packages.error().message, {});
    std::vector<std::string> wanted{"munge", "slurm-client"};
    if (from.controller) wanted.emplace_back("slurmctld");
    if (from.node) wanted.emplace_back("slurmd");
    std::erase_if(
        wanted, [&](const std::string& name) { return from.facts.packages.value().versions.contains(name); });
    if (wanted.empty()) return is_done(std::move(made), "munge and Slurm are installed");
    const std::string finding = "not installed: " + join(wanted, ", ");
    if (!from.facts.platform || from.facts.platform.value().family != Family::deb) {
        return is_missing(std::move(made),
                          finding +
                              "; on this system they are not ours to install: install munge and Slurm, "
                              "and leave them unconfigured",
                          {});
    }
    return is_missing(std::move(made), finding, {action::InstallPackages{{}, wanted}});
}

Step key_step(const Sources& from) {
    Step made = step("munge-key", "put the cluster's munge key in place");
    made.undo = "removes it";
    switch (from.cluster.munge_key) {
        case MungeKey::right:
            return is_done(std::move(made), "/etc/munge/munge.key is the cluster's");
        case MungeKey::to_put:
            return is_missing(std::move(made), "/etc/munge/munge.key is missing or another one",
                              {action::PutMungeKey{}});
        case MungeKey::foreign:
        case MungeKey::unknown:
            break;
    }
    return is_missing(std::move(made), from.cluster.munge_problem, {});
}

Step runs_step(const std::string& unit, const UnitFacts& facts, bool stale) {
    const std::string name = short_name(unit);
    Step made = step(name, "start " + name);
    made.undo = "stops it";
    if (facts.enabled && facts.failing && !stale)
        return only_says(
            std::move(made),
            name + " ends soon after its start, and is tried again; \"journalctl -u " + name + "\" says why");
    if (facts.enabled && facts.active && !stale)
        return is_done(std::move(made), facts.running ? name + " runs" : name + " is being started");
    return is_missing(std::move(made),
                      stale ? name + " runs with another key" : name + " does not run, or not after a boot",
                      {action::StartUnit{unit, stale}});
}

// Those that slurmctld has and the settings don't: they stay until nothing runs there, and nothing new
// starts.
std::vector<std::string> leaving_nodes(const Sources& from) {
    std::vector<std::string> leaving;
    if (!from.cluster.nodes) {
        for (const std::string& node : nodes_in(content_of(from.cluster, slurm_conf))) {
            if (!from.settings.runs_slurmd(node)) leaving.push_back(node);
        }
        return leaving;
    }
    for (const SlurmNode& node : from.cluster.nodes.value()) {
        const bool may_start_jobs = !node.is("DRAIN") && !node.is("DOWN");
        if (!from.settings.runs_slurmd(node.name) && (node.busy() || may_start_jobs))
            leaving.push_back(node.name);
    }
    return leaving;
}

std::set<std::string> fresh_nodes(const Sources& from) {
    std::set<std::string> fresh(from.settings.slurm_nodes.begin(), from.settings.slurm_nodes.end());
    const std::string before = content_of(from.cluster, slurm_conf);
    if (from.cluster.nodes) {
        for (const SlurmNode& node : from.cluster.nodes.value()) fresh.erase(node.name);
        return fresh;
    }
    for (const std::string& node : nodes_in(before)) {
        if (!begins_drained(before, node)) fresh.erase(node);
    }
    return fresh;
}

Result<SlurmConfig> wanted_config(const Sources& from) {
    if (!from.facts.machine.slurm) return from.facts.machine.slurm.error();
    return slurm_config({from.settings, from.settings.hardware, from.facts.machine.slurm.value(),
                         fresh_nodes(from), leaving_nodes(from), from.cluster.additions,
                         config_in_place(from.cluster)});
}

std::string first_line_with(const std::string& text, const std::string& begin) {
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with(begin)) return std::string(line.substr(begin.size()));
    }
    return {};
}

Step config_step(const Sources& from, const Result<SlurmConfig>& wanted) {
    Step made = step("slurm-config", "write Slurm's configuration");
    made.undo = "removes it";
    if (!wanted && wanted.error().code == Code::missing && from.facts.machine.slurm)
        return only_says(std::move(made), wanted.error().message);
    if (!wanted) return is_missing(std::move(made), wanted.error().message, {});
    const SlurmConfig before = config_in_place(from.cluster);
    const std::string name = first_line_with(before.slurm_conf, "ClusterName=");
    if (!name.empty() && name != from.settings.cluster_name) {
        return is_missing(std::move(made),
                          "this cluster's name is " + name +
                              ", and slurmctld's record of its jobs goes with that name; say cluster_name " +
                              name + ", or stop slurmctld and remove /var/lib/slurm/slurmctld and " +
                              slurm_conf,
                          {});
    }
    std::vector<MachineFile> different;
    std::vector<std::string> names;
    for (const auto& [path, content] : {std::pair{slurm_conf, wanted.value().slurm_conf},
                                        {cgroup_conf, wanted.value().cgroup_conf},
                                        {gres_conf, wanted.value().gres_conf}}) {
        const MachineFile file{path, content, 0644};
        const auto there = from.cluster.files.find(path);
        if (there != from.cluster.files.end() && there->second == file) continue;
        different.push_back(file);
        names.emplace_back(path);
    }
    if (different.empty()) return is_done(std::move(made), "it says what the settings and the nodes say");
    return is_missing(std::move(made), "missing or different: " + join(names, ", "),
                      {action::TrySlurmConfig{wanted.value()}, action::WriteFiles{different}});
}

Step told_step(const Sources& from, const SlurmConfig& wanted) {
    Step made = step("slurm-reconfigure", "have Slurm follow its configuration");
    if (from.cluster.told == wanted.text()) return is_done(std::move(made), "slurmctld has read it");
    const bool restart =
        !from.cluster.told.empty() &&
        needs_restart(config_from_text(from.cluster.told), wanted, from.facts.machine.slurm.value());
    return is_missing(std::move(made), "slurmctld has not read it yet",
                      {action::TellSlurm{restart, wanted.text()}});
}

// ---- whose a node is says its own helper (core/lending.hpp); nodes that leave have none that does

bool drained_by_others(const SlurmNode& node) {
    // Down for a reason of Slurm's own, it would come back undrained.
    const bool slurms = node.reason.empty() || node.reason.starts_with("Not responding") ||
                        node.reason.starts_with("Node unexpectedly rebooted");
    return node.is("DOWN") && !slurms;
}

Step nodes_step(const Sources& from) {
    Step made = step("node-drains", "drain nodes that leave");
    if (!from.cluster.nodes) {
        return is_missing(std::move(made), "slurmctld does not answer: " + from.cluster.nodes.error().message,
                          {});
    }
    std::vector<std::string> drain;
    for (const SlurmNode& node : from.cluster.nodes.value()) {
        if (!from.settings.runs_slurmd(node.name) && !node.is("DRAIN") && !drained_by_others(node))
            drain.push_back(node.name);
    }
    if (drain.empty()) return is_done(std::move(made), "no job starts on nodes that leave");
    return is_missing(std::move(made), "to drain: " + join(drain, ", "), {action::DrainNodes{drain}});
}

// ----

Step waiting_step(const Sources& from, const SlurmConfig& config) {
    Step made = step("slurm-nodes", "know what each node has");
    const std::vector<std::string> known = nodes_in(config.slurm_conf);
    std::vector<std::string> silent;
    for (const std::string& node : from.settings.slurm_nodes) {
        if (std::find(known.begin(), known.end(), node) == known.end()) silent.push_back(node);
    }
    if (silent.empty()) return is_done(std::move(made), "every node has said what it has");
    return only_says(std::move(made),
                     "not in Slurm until its helper has said what it has: " + join(silent, ", "));
}

Step leaving_step(const Sources& from) {
    Step made = step("slurm-leaving", "let nodes go that are not wanted any more");
    std::vector<std::string> busy;
    if (from.cluster.nodes) {
        for (const SlurmNode& node : from.cluster.nodes.value()) {
            if (!from.settings.runs_slurmd(node.name) && node.busy()) busy.push_back(node.name);
        }
    }
    if (busy.empty()) return is_done(std::move(made), "there are none");
    return is_missing(std::move(made),
                      "jobs still run on " + join(busy, ", ") + "; it leaves Slurm when they have ended", {});
}

ClusterSteps member_steps(const Sources& from) {
    ClusterSteps steps;
    Plan& plan = steps.before;
    // Somebody else's munge isn't touched at all.
    if (from.cluster.munge_key == MungeKey::foreign) return {{key_step(from)}, {}};
    plan.push_back(units_step(from));
    plan.push_back(packages_step(from));
    plan.push_back(key_step(from));
    plan.push_back(clock_step(from.cluster));
    plan.push_back(runs_step(munge_unit, from.cluster.munge, from.cluster.munge_stale));
    if (from.controller) {
        const Result<SlurmConfig> config = wanted_config(from);
        plan.push_back(config_step(from, config));
        if (config) {
            plan.push_back(runs_step(slurmctld_unit, from.cluster.slurmctld, false));
            plan.push_back(told_step(from, config.value()));
            plan.push_back(nodes_step(from));
            plan.push_back(waiting_step(from, config.value()));
            steps.after.push_back(leaving_step(from));
        }
    }
    if (from.node) plan.push_back(runs_step(slurmd_unit, from.cluster.slurmd, false));
    if (from.node && !from.controller) plan.push_back(contact_step(from.cluster, from.settings.controller));
    return steps;
}

bool in_use(const UnitFacts& unit) {
    return unit.enabled || unit.active;
}

Step stop_step(const std::string& unit, const std::string& wait) {
    const std::string name = short_name(unit);
    Step made = step(name + "-stopped", "stop " + name);
    if (!wait.empty()) return is_missing(std::move(made), wait, {});
    return is_missing(std::move(made), name + " is not wanted here any more", {action::StopUnit{unit}});
}

// Jobs end first, so that nobody gets a GPU that one still has.
Step empty_step(const Sources& from) {
    Step made = step("slurm-emptied", "let jobs end");
    if (!from.cluster.slurmctld.running) return is_done(std::move(made), "slurmctld does not run");
    if (!from.cluster.nodes) return is_missing(std::move(made), from.cluster.nodes.error().message, {});
    std::vector<std::string> open;
    std::vector<std::string> busy;
    for (const SlurmNode& node : from.cluster.nodes.value()) {
        if (!node.is("DRAIN") && !drained_by_others(node)) open.push_back(node.name);
        if (node.busy()) busy.push_back(node.name);
    }
    if (!open.empty())
        return is_missing(std::move(made), "jobs could still start on " + join(open, ", "),
                          {action::DrainNodes{open}});
    if (busy.empty()) return is_done(std::move(made), "no job runs");
    return is_missing(
        std::move(made),
        "jobs still run on " + join(busy, ", ") + "; Slurm stops when they have ended (scancel ends them)",
        {});
}

// What is of ours and of no use here any more.
Plan leaving_steps(const Sources& from) {
    Plan plan;
    const ClusterFacts& cluster = from.cluster;
    if (!from.controller && in_use(cluster.slurmctld)) {
        plan.push_back(empty_step(from));
        plan.push_back(stop_step(slurmctld_unit, ""));
    }
    if (!from.node && in_use(cluster.slurmd)) {
        plan.push_back(stop_step(slurmd_unit, cluster.steps.empty()
                                                  ? ""
                                                  : "steps still run here (" + join(cluster.steps, ", ") +
                                                        "); slurmd stops when they have ended"));
    }
    if (!from.controller && !from.node && cluster.munge_ours && in_use(cluster.munge))
        plan.push_back(stop_step(munge_unit, ""));
    return plan;
}

}  // namespace

ClusterSteps plan_cluster(const ResolvedSettings& settings, const SetupFacts& facts) {
    if (!facts.cluster) return {};
    const std::string& machine = facts.machine.machine;
    const Sources from{settings, facts, *facts.cluster, settings.enabled && settings.controller == machine,
                       settings.enabled && settings.runs_slurmd(machine)};
    const bool member = from.controller || from.node;
    if (!from.cluster.site.empty()) return member ? ClusterSteps{{site_step(from)}, {}} : ClusterSteps{};
    ClusterSteps steps = member ? member_steps(from) : ClusterSteps{};
    if (from.cluster.ours) {
        const Plan leaving = leaving_steps(from);
        steps.after.insert(steps.after.begin(), leaving.begin(), leaving.end());
    }
    return steps;
}

}  // namespace llmgw
