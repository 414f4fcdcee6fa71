#include "core/settings_check.hpp"

#include <map>
#include <string_view>

#include "core/names.hpp"
#include "core/settings_paths.hpp"
#include "core/shown.hpp"

namespace llmgw {

namespace {

std::string entry(std::string_view list, std::size_t index) {
    return std::string(list) + '[' + std::to_string(index) + ']';
}

std::string not_a_name(const std::string& text, std::string_view of_what) {
    return shown(text) + " is no name of a " + std::string(of_what) + ": use " + std::string(name_rule);
}

class Checker {
  public:
    Checker(const Settings& settings, const std::set<std::string>& unread)
        : settings_(settings), unread_(unread) {}

    std::vector<SettingError> check();

  private:
    void check_controller();
    void check_nodes();
    void check_lent();
    void check_optional_name(const std::string& key, const std::string& name, std::string_view of_what);
    void check_shared_path();
    void check_shared_nfs();
    void check_shared_server();
    void check_users();
    void check_names(std::string_view list, const std::vector<std::string>& names, std::string_view advice);

    [[nodiscard]] bool was_read(const std::string& key) const { return !unread_.contains(key); }
    [[nodiscard]] bool has_shared() const { return was_read("shared"); }
    void error(std::string key, std::string message) {
        errors_.push_back({std::move(key), std::move(message), 0, 0});
    }

    const Settings& settings_;
    const std::set<std::string>& unread_;
    std::set<std::string_view> nodes_;
    std::vector<SettingError> errors_;
};

std::vector<SettingError> Checker::check() {
    nodes_.insert(settings_.nodes.begin(), settings_.nodes.end());
    check_optional_name("cluster_name", settings_.cluster_name, "cluster");
    check_controller();
    check_nodes();
    check_lent();
    check_optional_name("partition", settings_.partition, "partition");
    if (has_shared()) {
        check_shared_path();
        check_shared_nfs();
        check_shared_server();
    }
    check_users();
    return std::move(errors_);
}

void Checker::check_optional_name(const std::string& key, const std::string& name, std::string_view of_what) {
    if (!name.empty() && !is_name(name)) error(key, not_a_name(name, of_what));
}

void Checker::check_controller() {
    if (!was_read("controller")) return;
    const std::string& controller = settings_.controller;
    if (controller.empty()) {
        error("controller", "missing: name the machine that runs slurmctld");
    } else if (!is_name(controller)) {
        error("controller", not_a_name(controller, "machine"));
    }
}

// Each entry is a name, and none is there twice.
void Checker::check_names(std::string_view list, const std::vector<std::string>& names,
                          std::string_view advice) {
    std::map<std::string_view, std::size_t> first;
    for (std::size_t index = 0; index < names.size(); ++index) {
        const std::string& name = names[index];
        const std::string key = entry(list, index);
        if (!was_read(key)) continue;
        const auto [place, is_new] = first.emplace(name, index);
        if (!is_name(name)) {
            error(key, not_a_name(name, "machine"));
        } else if (!is_new) {
            error(key,
                  shown(name) + " is already " + entry(list, place->second) + ": " + std::string(advice));
        }
    }
}

void Checker::check_nodes() {
    check_names("nodes", settings_.nodes, "name each node once");
}

void Checker::check_lent() {
    check_names("lent", settings_.lent, "lend each node once");
    // Which nodes there are can't be said when `nodes` or `all_nodes` could not be read.
    if (settings_.all_nodes || !was_read("nodes") || !was_read("all_nodes")) return;
    for (std::size_t index = 0; index < settings_.lent.size(); ++index) {
        const std::string& name = settings_.lent[index];
        const std::string key = entry("lent", index);
        if (!was_read(key) || !is_name(name) || nodes_.contains(name)) continue;
        error(key, shown(name) + " is not one of nodes: add it there, or set all_nodes to true");
    }
}

void Checker::check_shared_path() {
    if (!was_read("shared.path")) return;
    const auto& [path, nfs, server] = settings_.shared;
    if (!path.empty()) {
        if (const auto problem = shared_path_problem(path)) error("shared.path", *problem);
    } else if (!nfs.empty() || !server.empty()) {
        error("shared.path", std::string("missing, while shared.") + (nfs.empty() ? "server" : "nfs") +
                                 " is set: give the path where it is mounted, such as /shared");
    }
}

void Checker::check_shared_nfs() {
    const std::string& nfs = settings_.shared.nfs;
    if (nfs.empty()) return;
    if (const auto problem = nfs_source_problem(nfs)) error("shared.nfs", *problem);
}

void Checker::check_shared_server() {
    const auto& [path, nfs, server] = settings_.shared;
    if (server.empty()) return;
    if (!nfs.empty()) {
        error("shared.server",
              shown(server) + " is given besides shared.nfs " + shown(nfs) +
                  ": keep one, nfs for a server outside the cluster, server for one of its machines");
    }
    if (!is_name(server)) {
        error("shared.server", not_a_name(server, "machine"));
        return;
    }
    const bool machines_known = was_read("controller") && was_read("nodes") && was_read("all_nodes");
    if (settings_.all_nodes || !machines_known || server == settings_.controller || nodes_.contains(server))
        return;
    error("shared.server", shown(server) +
                               " is neither the controller nor one of nodes: use one of these, or "
                               "shared.nfs for a server outside the cluster");
}

void Checker::check_users() {
    const std::string& users = settings_.users;
    if (users.empty() || users == "llmgw") return;
    error("users",
          shown(users) + R"( is not known: use "llmgw" for llmgw's accounts, or "" for the site's own)");
}

}  // namespace

std::vector<SettingError> check_settings(const Settings& settings, const std::set<std::string>& unread) {
    // Of an `enabled` that could not be read nobody knows what it was meant to be; it is an error either way,
    // and who meant true learns about everything at once.
    if (!settings.enabled && !unread.contains("enabled")) return {};
    return Checker(settings, unread).check();
}

}  // namespace llmgw
