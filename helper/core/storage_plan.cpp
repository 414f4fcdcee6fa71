#include "core/storage_plan.hpp"

#include <algorithm>
#include <set>

#include "core/names.hpp"
#include "core/shown.hpp"

namespace llmgw {
namespace {

constexpr const char* exports_file = "/etc/exports.d/llmgw-slurm.exports";
constexpr const char* slurmd_file = "/etc/systemd/system/slurmd.service.d/50-llmgw-shared.conf";
constexpr unsigned everyone_reads = 0644;

// hard: what was written is never lost silently; a server that is away makes programs wait. nofail: the
// machine boots without it (systemd.mount(5): nothing waits for the unit then but who says so).
constexpr const char* mount_options = "rw,hard,nosuid,nodev,nofail,_netdev";

std::string mount_text(const ResolvedSettings& settings) {
    return "# llmgw-slurm: mounts the shared path of the settings.\n"
           "[Unit]\n"
           "Description=llmgw-slurm: the cluster's shared path\n"
           "Wants=network-online.target\n"
           "After=network-online.target\n"
           "\n"
           "[Mount]\n"
           "What=" +
           settings.mount_source + "\nWhere=" + settings.shared_path +
           "\nType=nfs\nOptions=" + mount_options +
           "\n"
           "# A server that doesn't answer is tried again, with slurmd and by the helper.\n"
           "TimeoutSec=30\n"
           "\n"
           "[Install]\n"
           "WantedBy=multi-user.target\n";
}

// slurmd begins only where the path is mounted, tries again as long as it isn't, and holds up nothing else.
std::string slurmd_text(const std::string& unit, const std::string& point) {
    const std::string after =
        unit.empty() ? "After=remote-fs.target\n" : "Wants=" + unit + "\nAfter=" + unit + "\n";
    return "# llmgw-slurm: slurmd takes no job before the shared path is mounted.\n"
           "[Unit]\n" +
           after +
           "StartLimitIntervalSec=0\n"
           "\n"
           "[Service]\n"
           "ExecStartPre=/usr/bin/mountpoint -q " +
           point +
           "\n"
           "Restart=on-failure\n"
           "RestartSec=15\n";
}

// Only to the cluster's machines, root of none of them: this machine makes the homes.
std::string exports_text(const ResolvedSettings& settings) {
    std::set<std::string> machines(settings.slurm_nodes.begin(), settings.slurm_nodes.end());
    machines.insert(settings.controller);
    machines.erase(settings.shared_server);
    std::string text =
        "# llmgw-slurm: exports the shared path of the settings, to the cluster's machines only.\n";
    if (machines.empty()) return text;
    text += settings.shared_path;
    for (const std::string& machine : machines)
        text += " " + machine + "(rw,sync,no_subtree_check,root_squash)";
    return text + "\n";
}

}  // namespace

StorageRole storage_role(const ResolvedSettings& settings, const std::string& machine) {
    const bool part = machine == settings.controller || settings.runs_slurmd(machine) ||
                      (!settings.shared_server.empty() && machine == settings.shared_server);
    if (!settings.enabled || settings.shared_path.empty() || !part) return StorageRole::none;
    if (settings.shared == SharedSource::site) return StorageRole::looks;
    return settings.mounts_shared(machine) ? StorageRole::mounts : StorageRole::exports;
}

std::string mount_unit_name(const std::string& path) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string name;
    for (std::size_t i = 1; i < path.size(); ++i) {
        const char c = path[i];
        const bool plain = is_alphanumeric(c) || c == ':' || c == '_' || (c == '.' && i > 1);
        if (c == '/') {
            name += '-';
        } else if (plain) {
            name += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            name.append("\\x").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
        }
    }
    return name + ".mount";
}

std::vector<MachineFile> storage_files(const ResolvedSettings& settings, const std::string& machine,
                                       const std::string& point, bool slurmd) {
    std::vector<MachineFile> files;
    switch (storage_role(settings, machine)) {
        case StorageRole::none:
            break;
        case StorageRole::exports:
            files.push_back({exports_file, exports_text(settings), everyone_reads});
            break;
        case StorageRole::mounts: {
            const std::string unit = mount_unit_name(settings.shared_path);
            files.push_back({"/etc/systemd/system/" + unit, mount_text(settings), everyone_reads});
            if (slurmd)
                files.push_back({slurmd_file, slurmd_text(unit, settings.shared_path), everyone_reads});
            break;
        }
        case StorageRole::looks:
            if (slurmd && !point.empty())
                files.push_back({slurmd_file, slurmd_text("", point), everyone_reads});
            break;
    }
    return files;
}

std::string shared_problem(const ResolvedSettings& settings, const std::string& machine,
                           const SharedPath& path) {
    const std::string& name = settings.shared_path;
    const StorageRole role = storage_role(settings, machine);
    const std::string from =
        role == StorageRole::mounts ? settings.mount_source : "what the site mounts there";
    switch (path.state) {
        case SharedState::unknown:
            return name + ": it could not be looked at";
        case SharedState::unanswering:
            return name + ": " + (path.source.empty() ? "what is mounted there" : shown(path.source)) +
                   " does not answer; is its server there? Programs that use it wait";
        case SharedState::missing:
            if (role == StorageRole::looks)
                return name + ": there is no such directory; the site mounts it there";
            return name + ": there is no such directory yet";
        case SharedState::directory:
            if (role == StorageRole::exports) return "";
            return name + ": nothing is mounted there; " + from + " is missing";
        case SharedState::there:
            if (role == StorageRole::mounts && path.source != settings.mount_source) {
                return name + ": " + shown(path.source) + " is mounted there, and the settings say " +
                       shown(settings.mount_source) + "; unmount it, or change the settings";
            }
            return "";
    }
    return "";
}

}  // namespace llmgw
