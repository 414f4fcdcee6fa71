#include "core/slurm_config.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/lending.hpp"
#include "core/slurmd_view.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view mark = "# llmgw-slurm: ";
constexpr std::string_view slurm_head =
    "# llmgw-slurm: Slurm's configuration, made from llmgw's settings and written anew when they change.\n"
    "# A site's own lines go to /etc/llmgw-slurm/slurm.conf on the controller, and win over those here.\n";
constexpr std::string_view other_head =
    "# llmgw-slurm: made from llmgw's settings and from what the nodes have; written anew when they "
    "change.\n";

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return result;
}

// "clustername" of "ClusterName=llmgw"; empty: no such line.
std::string key_of(std::string_view line) {
    line = trimmed(line.substr(0, line.find('#')));
    const std::size_t equals = line.find('=');
    return equals == std::string_view::npos ? "" : lower(trimmed(line.substr(0, equals)));
}

std::set<std::string> keys_in(std::string_view text) {
    std::set<std::string> keys;
    for (const std::string_view line : split(text, '\n')) {
        const std::string key = key_of(line);
        // Of these there may be many.
        if (!key.empty() && key != "nodename" && key != "partitionname") keys.insert(key);
    }
    return keys;
}

// The line of that node in a file of ours.
std::optional<std::string> line_of(std::string_view text, std::string_view node) {
    const std::string begin = "NodeName=" + std::string(node) + " ";
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with(begin)) return std::string(line);
    }
    return std::nullopt;
}

std::string state_words() {
    return " State=DRAIN Reason=\"" + std::string(our_drain) + "\"";
}

std::string without_state(std::string line) {
    if (const std::size_t state = line.find(" State="); state != std::string::npos) line.resize(state);
    return line;
}

// What slurmd finds at its next start may be some MB less (another kernel, the firmware), and a node that has
// less than its line says is of no use to Slurm: 2 % stay free, in steps, so that the line stays the same.
std::uint64_t memory_for_jobs(std::uint64_t memory_mb) {
    constexpr std::uint64_t step = 64;
    const std::uint64_t most = memory_mb - memory_mb / 50;
    return most > step ? most - most % step : memory_mb;
}

std::string node_line(const std::string& node, const NodeHardware& hardware) {
    std::string line = "NodeName=" + node + " CPUs=" + std::to_string(hardware.cpus) +
                       " Boards=" + std::to_string(hardware.boards) +
                       " SocketsPerBoard=" + std::to_string(hardware.sockets_per_board) +
                       " CoresPerSocket=" + std::to_string(hardware.cores_per_socket) +
                       " ThreadsPerCore=" + std::to_string(hardware.threads_per_core) +
                       " RealMemory=" + std::to_string(memory_for_jobs(hardware.memory_mb));
    if (!hardware.gpus.empty()) line += " Gres=gpu:" + std::to_string(hardware.gpus.size());
    return line;
}

std::string gres_line(const std::string& node, const NodeHardware& hardware) {
    return "NodeName=" + node + " Name=gpu File=/dev/nvidia" + number_list(hardware.gpus);
}

struct NodeLines {
    std::vector<std::string> names;
    std::vector<std::string> slurm;
    std::vector<std::string> gres;
};

NodeLines lines_of_nodes(const ConfigSources& from) {
    NodeLines lines;
    std::vector<std::string> nodes = from.settings.slurm_nodes;
    for (const std::string& node : from.leaving) {
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    }
    for (const std::string& node : nodes) {
        const auto known = from.hardware.find(node);
        std::optional<std::string> line = line_of(from.before.slurm_conf, node);
        std::optional<std::string> gres = line_of(from.before.gres_conf, node);
        if (known != from.hardware.end()) {
            line = node_line(node, known->second);
            gres = known->second.gpus.empty() ? std::nullopt
                                              : std::optional<std::string>(gres_line(node, known->second));
        }
        if (!line) continue;
        lines.names.push_back(node);
        lines.slurm.push_back(without_state(*line) + (from.fresh.contains(node) ? state_words() : ""));
        if (gres) lines.gres.push_back(*gres);
    }
    return lines;
}

std::uint64_t value_in(std::string_view line, std::string_view key) {
    const std::size_t begin = line.find(key);
    std::uint64_t value = 0;
    if (begin == std::string_view::npos) return value;
    std::from_chars(line.data() + begin + key.size(), line.data() + line.size(), value);
    return value;
}

// For a job that says nothing of memory: its CPUs' share of the smallest node, instead of a whole node's.
std::uint64_t memory_per_cpu(const std::vector<std::string>& lines) {
    std::uint64_t least = 0;
    for (const std::string& line : lines) {
        const std::uint64_t share =
            value_in(line, "RealMemory=") / std::max<std::uint64_t>(1, value_in(line, " CPUs="));
        if (least == 0 || share < least) least = share;
    }
    return std::max<std::uint64_t>(1, least);
}

std::vector<std::string> common_lines(const ConfigSources& from, const NodeLines& nodes) {
    std::vector<std::string> lines{
        "ClusterName=" + from.settings.cluster_name,
        "SlurmctldHost=" + from.settings.controller,
        "SlurmctldParameters=enable_configless",
        "SlurmUser=slurm",
        "AuthType=auth/munge",
        "StateSaveLocation=/var/lib/slurm/slurmctld",
        "SlurmdSpoolDir=/var/lib/slurm/slurmd",
        "SlurmctldLogFile=/var/log/slurm/slurmctld.log",
        "SlurmdLogFile=/var/log/slurm/slurmd.log",
        "ProctrackType=proctrack/cgroup",
        "TaskPlugin=task/cgroup,task/affinity",
        "PrologFlags=Contain",
        "JobSubmitPlugins=llmgw",
        "GresTypes=gpu",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core_Memory",
        "DefMemPerCPU=" + std::to_string(memory_per_cpu(nodes.slurm)),
        "MpiDefault=none",
        // A node that was away comes back by itself; a drain stays.
        "ReturnToService=2",
    };
    // Debian's plugstack.conf includes with a pattern, of which slurmctld complains since it sends includes.
    if (!slurm_before(from.slurm, 23, 11)) lines.emplace_back("DebugFlags=GLOB_SILENCE");
    return lines;
}

}  // namespace

std::string SlurmConfig::text() const {
    return slurm_conf + "\f\n" + cgroup_conf + "\f\n" + gres_conf;
}

SlurmConfig config_from_text(std::string_view text) {
    constexpr std::string_view between = "\f\n";
    const std::size_t first = text.find(between);
    const std::size_t second = text.rfind(between);
    if (first == std::string_view::npos || first == second) return {};
    const std::size_t behind = first + between.size();
    return {std::string(text.substr(0, first)), std::string(text.substr(behind, second - behind)),
            std::string(text.substr(second + between.size()))};
}

Result<SlurmConfig> slurm_config(const ConfigSources& from) {
    const NodeLines nodes = lines_of_nodes(from);
    if (nodes.names.empty()) {
        return Error{Code::missing,
                     "no node has said yet what it has: " +
                         (from.settings.slurm_nodes.empty()
                              ? "there are none in nodes, and all_nodes is off"
                              : "the helper has to run on " + join(from.settings.slurm_nodes, ", "))};
    }
    const std::set<std::string> theirs = keys_in(from.additions);
    SlurmConfig config;
    config.slurm_conf = slurm_head;
    for (const std::string& line : common_lines(from, nodes)) {
        if (!theirs.contains(key_of(line))) config.slurm_conf += line + "\n";
    }
    for (const std::string& line : nodes.slurm) config.slurm_conf += line + "\n";
    config.slurm_conf += "PartitionName=" + from.settings.partition + " Nodes=" + join(nodes.names, ",") +
                         " Default=YES MaxTime=INFINITE State=UP\n";
    if (!from.additions.empty()) {
        config.slurm_conf += "# From /etc/llmgw-slurm/slurm.conf:\n" + from.additions;
        if (!from.additions.ends_with('\n')) config.slurm_conf += '\n';
    }
    config.cgroup_conf = std::string(other_head) +
                         "ConstrainCores=yes\nConstrainDevices=yes\nConstrainRAMSpace=yes\n"
                         "ConstrainSwapSpace=yes\nAllowedSwapSpace=0\n";
    config.gres_conf = other_head;
    for (const std::string& line : nodes.gres) config.gres_conf += line + "\n";
    return config;
}

SlurmConfig trial_config(const SlurmConfig& config, const std::string& directory) {
    SlurmConfig trial = config;
    trial.slurm_conf.clear();
    for (const std::string_view line : split(config.slurm_conf, '\n')) {
        const std::string key = key_of(line);
        if (key == "statesavelocation" || key == "slurmctldlogfile" || key == "slurmctldpidfile" ||
            key == "slurmctldparameters" || key == "slurmctldport" || key == "slurmdport" ||
            key.starts_with("accountingstorage") || key.starts_with("jobcomp") ||
            key.starts_with("slurmctldprimary"))
            continue;
        trial.slurm_conf += line;
        if (line.starts_with("NodeName=")) trial.slurm_conf += " NodeAddr=127.0.0.1";
        if (line.starts_with("SlurmctldHost=")) trial.slurm_conf += "(127.0.0.1)";
        trial.slurm_conf += '\n';
    }
    // Nobody listens there; 22.05 looks names up in a way that finds none in a network of its own.
    trial.slurm_conf += "SlurmctldPort=16817\nSlurmdPort=16818\nStateSaveLocation=" + directory +
                        "/state\nSlurmctldPidFile=" + directory + "/slurmctld.pid\n";
    return trial;
}

bool is_our_config(std::string_view text) {
    return text.starts_with(mark);
}

std::vector<std::string> nodes_in(std::string_view slurm_conf) {
    constexpr std::string_view begin = "NodeName=";
    std::vector<std::string> names;
    for (const std::string_view line : split(slurm_conf, '\n')) {
        if (line.starts_with(begin))
            names.emplace_back(line.substr(begin.size(), line.find(' ') - begin.size()));
    }
    return names;
}

bool begins_drained(std::string_view slurm_conf, std::string_view node) {
    const std::optional<std::string> line = line_of(slurm_conf, node);
    return line && contains(*line, " State=DRAIN");
}

bool needs_restart(const SlurmConfig& before, const SlurmConfig& after, const std::string& slurm) {
    if (!slurm_before(slurm, 23, 11)) return false;
    const std::vector<std::string> names = nodes_in(after.slurm_conf);
    if (nodes_in(before.slurm_conf) != names || before.gres_conf != after.gres_conf) return true;
    return std::any_of(names.begin(), names.end(), [&](const std::string& node) {
        return without_state(line_of(before.slurm_conf, node).value_or("")) !=
               without_state(line_of(after.slurm_conf, node).value_or(""));
    });
}

std::vector<std::string> missing_in_site(std::string_view slurm_conf) {
    const auto says = [&](const char* key, std::string_view word) {
        const std::string value = lower(slurm_conf_value(slurm_conf, key).value_or(""));
        const std::vector<std::string_view> words = split(value, ',');
        return std::any_of(words.begin(), words.end(),
                           [&](std::string_view each) { return trimmed(each) == word; });
    };
    std::vector<std::string> missing;
    if (!says("JobSubmitPlugins", "llmgw")) missing.emplace_back("JobSubmitPlugins=llmgw");
    // X11 brings Contain with it.
    if (!says("PrologFlags", "contain") && !says("PrologFlags", "x11"))
        missing.emplace_back("PrologFlags=Contain");
    return missing;
}

bool slurm_before(const std::string& version, unsigned major, unsigned minor) {
    unsigned has_major = 0;
    unsigned has_minor = 0;
    const char* const end = version.data() + version.size();
    const auto [point, error] = std::from_chars(version.data(), end, has_major);
    if (error != std::errc{} || point == end) return false;
    std::from_chars(point + 1, end, has_minor);
    return has_major != major ? has_major < major : has_minor < minor;
}

}  // namespace llmgw
