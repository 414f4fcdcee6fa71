// The shared path on a machine: which files make systemd mount it, NFS's server export it, and slurmd wait
// for it, and what is to be done about what was found. Pure; service/storage.hpp gathers the facts and does
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/machine_files.hpp"
#include "core/settings.hpp"

namespace llmgw {

// What answers when the shared path is looked at.
enum class SharedState {
    unknown,      // could not be looked at
    missing,      // no such directory
    directory,    // a directory of this machine's own: nothing is mounted
    there,        // mounted, and it answers
    unanswering,  // something is mounted, and it does not answer
};

struct SharedPath {
    SharedState state = SharedState::unknown;
    bool empty = true;   // of a directory
    std::string source;  // of what is mounted there: "server:/export"
    std::string point;   // where it is mounted: the path itself, or above it

    bool operator==(const SharedPath&) const = default;
};

struct StorageFacts {
    std::string machine;
    SharedPath path;
    bool client = false;    // mount.nfs is there
    bool server = false;    // exportfs is there
    bool exported = false;  // the server says so
    bool slurmd = false;    // slurmd.service is known to systemd
    bool enabled = false;   // the mount unit is, so that it is started at boot
    std::map<std::string, std::optional<MachineFile>> files;  // what is in the wanted files' places
    std::vector<std::string> unwanted;                        // of ours, from other settings
};

// The role of a machine.
enum class StorageRole { none, mounts, exports, looks };
[[nodiscard]] StorageRole storage_role(const ResolvedSettings& settings, const std::string& machine);

// "/shared/data-1" -> "shared-data\x2d1.mount" (systemd.unit(5), systemd-escape --path).
[[nodiscard]] std::string mount_unit_name(const std::string& path);

// The files of this machine. `point` is where the site mounts what the path is in; only for `looks`.
[[nodiscard]] std::vector<MachineFile> storage_files(const ResolvedSettings& settings,
                                                     const std::string& machine, const std::string& point,
                                                     bool slurmd);

// Why the path is no good as it is now, and what helps; empty: it is there.
[[nodiscard]] std::string shared_problem(const ResolvedSettings& settings, const std::string& machine,
                                         const SharedPath& path);

}  // namespace llmgw
