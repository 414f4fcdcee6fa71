// Slurm's configuration as texts, made from the settings and what the nodes have: pure, and equal input gives
// equal bytes. The controller has them in /etc/slurm, and slurmctld hands them to all nodes (configless).
// What is in them and why: docs/machine.md.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_hardware.hpp"
#include "core/result.hpp"
#include "core/settings.hpp"

namespace llmgw {

struct SlurmConfig {
    std::string slurm_conf;
    std::string cgroup_conf;
    std::string gres_conf;

    bool operator==(const SlurmConfig&) const = default;
    // All of it as one text, for comparing.
    [[nodiscard]] std::string text() const;
};

struct ConfigSources {
    const ResolvedSettings& settings;
    const std::map<std::string, NodeHardware>& hardware;  // of those that have reported it
    std::string slurm;                                    // the controller's version, "22.05.8"
    // Nodes that slurmctld doesn't know yet: they begin drained. State= stays in slurm.conf no longer than
    // that, since Slurm would follow it again at each start, whatever was said since.
    std::set<std::string> fresh;
    // Those that are not wanted any more and still have jobs.
    std::vector<std::string> leaving;
    std::string additions;  // the site's own lines, which win
    SlurmConfig before;     // what is in place: nodes whose report got lost keep their lines
};

// The other way round; of a text that none is, an empty one.
SlurmConfig config_from_text(std::string_view text);

// Error (missing): not one node has said what it has, and Slurm starts with none no configuration.
Result<SlurmConfig> slurm_config(const ConfigSources& from);

// The same, for a slurmctld that only has to show that it takes it: nothing of it is outside `directory`,
// every name leads to itself, and it reports to no accounting.
SlurmConfig trial_config(const SlurmConfig& config, const std::string& directory);

// Whose a file is, by its first line.
bool is_our_config(std::string_view text);

// The names in NodeName= lines of ours, in their order.
std::vector<std::string> nodes_in(std::string_view slurm_conf);
// Whether a node's line says that it begins drained.
bool begins_drained(std::string_view slurm_conf, std::string_view node);

// Whether slurmctld has to be started anew to follow from one to the other: before 23.11 a change of nodes or
// of their GPUs (slurm.conf(5), "restart"); else `scontrol reconfigure` is enough.
bool needs_restart(const SlurmConfig& before, const SlurmConfig& after, const std::string& slurm);

// What a site that runs Slurm itself has to say there for us, as lines; those that are missing.
std::vector<std::string> missing_in_site(std::string_view slurm_conf);

// "22.05.8" < 23.11.
bool slurm_before(const std::string& version, unsigned major, unsigned minor);

}  // namespace llmgw
