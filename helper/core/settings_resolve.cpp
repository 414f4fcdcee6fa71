#include "core/settings_resolve.hpp"

#include <algorithm>
#include <set>

#include "core/names.hpp"
#include "core/settings_paths.hpp"
#include "core/shown.hpp"

namespace llmgw {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string or_default(const std::string& text, const char* otherwise) {
    return text.empty() ? otherwise : text;
}

std::vector<std::string> machines_with_slurmd(const Settings& settings,
                                              const std::vector<std::string>& machines) {
    std::vector<std::string> result = settings.nodes;
    if (!settings.all_nodes) return result;
    std::set<std::string> others(machines.begin(), machines.end());
    others.insert(settings.controller);
    for (const std::string& node : settings.nodes) others.erase(node);
    std::copy_if(others.begin(), others.end(), std::back_inserter(result),
                 [](const std::string& name) { return is_name(name); });
    return result;
}

void resolve_shared(const Settings::Shared& shared, ResolvedSettings& result) {
    result.home_directory = shared.path + "/home";
    if (shared.path.empty()) return;
    result.shared_path = shared.path;
    result.shared = SharedSource::site;
    if (const auto source = split_nfs_source(shared.nfs)) {
        result.shared = SharedSource::nfs;
        result.mount_source = source->mount_source();
    } else if (!shared.server.empty()) {
        result.shared = SharedSource::server;
        result.shared_server = shared.server;
        result.mount_source = shared.server + ':' + shared.path;
    }
}

}  // namespace

ResolvedSettings resolve_settings(const Settings& settings, const std::vector<std::string>& machines) {
    ResolvedSettings result;
    if (!settings.enabled) return result;
    result.enabled = true;
    result.cluster_name = or_default(settings.cluster_name, "llmgw");
    result.controller = settings.controller;
    result.partition = or_default(settings.partition, "gpu");
    result.all_nodes = settings.all_nodes;
    result.slurm_nodes = machines_with_slurmd(settings, machines);
    const std::set<std::string> running(result.slurm_nodes.begin(), result.slurm_nodes.end());
    for (const std::string& name : settings.lent) {
        (running.contains(name) ? result.lent : result.lent_unknown).push_back(name);
    }
    resolve_shared(settings.shared, result);
    result.users = settings.users == "llmgw" ? Users::llmgw : Users::site;
    result.containers = settings.containers;
    return result;
}

bool ResolvedSettings::runs_slurmd(const std::string& machine) const {
    return contains(slurm_nodes, machine);
}

bool ResolvedSettings::is_member(const std::string& machine) const {
    return enabled && (machine == controller || runs_slurmd(machine));
}

bool ResolvedSettings::wants_containers_on(const std::string& machine) const {
    return containers && is_member(machine);
}

bool ResolvedSettings::wants_users_on(const std::string& machine) const {
    return users == Users::llmgw && is_member(machine);
}

bool ResolvedSettings::wants_setup_on(const std::string& machine) const {
    return wants_containers_on(machine) || wants_users_on(machine) ||
           (shared != SharedSource::none && (is_member(machine) || (enabled && machine == shared_server)));
}

bool ResolvedSettings::is_lent(const std::string& machine) const {
    return contains(lent, machine);
}

bool ResolvedSettings::mounts_shared(const std::string& machine) const {
    return !mount_source.empty() && machine != shared_server;
}

Result<std::string> ResolvedSettings::home_of(const std::string& login) const {
    if (!is_login(login)) {
        return Error{Code::invalid, shown(login) + " is no login: use " + std::string(login_rule)};
    }
    return or_default(home_directory, "/home") + '/' + login;
}

}  // namespace llmgw
