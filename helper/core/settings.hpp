// The settings of a cluster: as an admin wrote them, and as everything else uses them. The rules are in
// docs/settings.md. Parse, check and resolve are functions of their own: settings_parse.hpp,
// settings_check.hpp, settings_resolve.hpp. From a file's text, all in one: json/settings_json.hpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/node_hardware.hpp"
#include "core/result.hpp"

namespace llmgw {

// As written; a key that was left out has the value here.
struct Settings {
    struct Shared {
        std::string path;
        std::string nfs;     // host:/path
        std::string server;  // a machine of the cluster that exports `path` itself

        bool operator==(const Shared&) const = default;
    };

    bool enabled = false;
    std::string cluster_name;
    std::string controller;
    std::vector<std::string> nodes;
    bool all_nodes = false;
    std::vector<std::string> lent;
    std::string partition;
    Shared shared;
    std::string users;
    bool containers = false;

    bool operator==(const Settings&) const = default;
};

// One thing that is wrong. Errors of the document itself (it is no JSON, something comes after it) have a
// place and no key; errors of what it says have a key.
struct SettingError {
    std::string key;      // `nodes[3]`, `shared.nfs`; printable, whatever was written
    std::string message;  // one line: what is wrong, and what is allowed
    int line = 0;         // from 1; 0: no place
    int column = 0;       // in characters, from 1

    bool operator==(const SettingError&) const = default;
};

enum class SharedSource {
    none,    // no shared path
    site,    // the site mounts it; nothing is ours to do
    nfs,     // mounted everywhere from a server outside the cluster
    server,  // exported by a machine of the cluster, mounted on the others
};

enum class Users {
    site,   // accounts are the site's own
    llmgw,  // accounts come from llmgw's leader
};

// Settings that hold, with defaults in place and names of machines worked out.
struct ResolvedSettings {
    bool enabled = false;  // when not, nothing below is set
    std::string cluster_name;
    std::string controller;
    std::string partition;
    bool all_nodes = false;
    // Every machine that runs slurmd, each once: `nodes` as written, then, under all_nodes, the controller
    // and all other machines that the leader knows, sorted. slurm.conf is written in this order.
    std::vector<std::string> slurm_nodes;
    // Those of them that are lent to Slurm, as written.
    std::vector<std::string> lent;
    // Under all_nodes: lent, but not known to the leader, or not yet.
    std::vector<std::string> lent_unknown;
    // What the nodes have, as far as they said so; only where slurm.conf is written.
    std::map<std::string, NodeHardware> hardware;

    SharedSource shared = SharedSource::none;
    std::string shared_path;
    std::string shared_server;  // the machine of the cluster that exports it; there it isn't mounted
    std::string mount_source;   // `host:/path` as mount(8) takes it; empty unless nfs or server

    std::string home_directory;  // what home directories are in: `/home` or `<shared.path>/home`
    Users users = Users::site;
    bool containers = false;

    bool operator==(const ResolvedSettings&) const = default;

    [[nodiscard]] bool runs_slurmd(const std::string& machine) const;
    // It is the controller or runs slurmd.
    [[nodiscard]] bool is_member(const std::string& machine) const;
    // Containers are on, and this machine is the controller or runs slurmd.
    [[nodiscard]] bool wants_containers_on(const std::string& machine) const;
    // The same for users: they are llmgw's accounts, and this machine counts.
    [[nodiscard]] bool wants_users_on(const std::string& machine) const;
    // Anything at all is to be set up here.
    [[nodiscard]] bool wants_setup_on(const std::string& machine) const;
    [[nodiscard]] bool is_lent(const std::string& machine) const;
    // Whether this machine mounts `mount_source` on `shared_path`.
    [[nodiscard]] bool mounts_shared(const std::string& machine) const;
    // `<home_directory>/<login>`. invalid: no login (names.hpp), so that none can lead anywhere else.
    [[nodiscard]] Result<std::string> home_of(const std::string& login) const;
};

}  // namespace llmgw
