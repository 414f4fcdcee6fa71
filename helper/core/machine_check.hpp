// From what was found on a machine to whether it is ready for containers: pure. The facts come from
// service/machine_facts.hpp.
#pragma once

#include <optional>
#include <string>

#include "core/node_state.hpp"
#include "core/plugstack.hpp"
#include "core/readiness.hpp"
#include "core/report.hpp"
#include "core/result.hpp"

namespace llmgw {

// What a plugin's library says of itself, found out by loading it in a throw-away process.
struct PluginFacts {
    std::string name;         // plugin_name
    std::string type;         // plugin_type
    std::uint32_t slurm = 0;  // plugin_version: a byte each for major, minor and micro
    std::string version;      // pyxis's own version, "" if it doesn't say

    bool operator==(const PluginFacts&) const = default;
};

struct FileFacts {
    std::string path;
    std::string fingerprint;

    bool operator==(const FileFacts&) const = default;
};

struct MachineFacts {
    std::string machine;
    std::string boot;
    bool oci = false;
    Result<std::string> slurm = Error{};  // "22.05.8", of the Slurm that runs here
    Result<Plugstack> plugstack = Error{};
    // Of the library that plugstack.conf names; only looked at if it names one.
    Result<FileFacts> pyxis_file = Error{};
    Result<PluginFacts> pyxis = Error{};
    // It is the library that we build: then its stamp must be this Slurm's to the micro version. A site's own
    // only has to be one that Slurm loads.
    bool pyxis_is_ours = false;
    Result<FileFacts> enroot_file = Error{};
    Result<std::string> enroot = Error{};       // "4.2.1"
    std::vector<std::string> user_directories;  // node_state.hpp
    // What an admin may want to know although nothing is wrong with it.
    std::string pending;                   // "pending restart: slurmd still runs ..."
    std::vector<std::string> doubts;       // of enroot's settings
    bool proven = false;                   // a user's container started with what is there now
    std::optional<NodeHardware> hardware;  // where slurmd is installed
    std::string cluster;  // fingerprints of Slurm's and munge's files, "" where there are none
};

struct MachineCheck {
    NodeState node;        // for the guard
    MachineReport report;  // for the leader
    std::string cluster;   // changes when somebody changed Slurm's or munge's files

    bool operator==(const MachineCheck&) const = default;
};

MachineCheck check_machine(const MachineFacts& facts, const WantedVersions& wanted,
                           const std::string& helper_version);

// The same machine, not ready for this reason.
MachineCheck not_ready(const MachineCheck& check, const std::string& reason);

// "22.05" of "22.05.8" or of a plugin's stamp.
std::string major_minor(const std::string& version);
std::string major_minor(std::uint32_t stamp);
std::string full_version(std::uint32_t stamp);  // "22.05.8"
// To the micro version; "24.11.0-0rc1" is 24.11.0.
bool is_of_slurm(std::uint32_t stamp, const std::string& version);

}  // namespace llmgw
