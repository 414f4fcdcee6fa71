// Finds out what a file system can do by doing it: in a file of its own below the nearest directory that
// exists, which it removes again. Needs root's rights and the machine's own mounts, so the helper lets a task
// of its own do it (service/path_check.hpp).
#pragma once

#include <string>

#include "core/path_finding.hpp"

namespace llmgw {

// What goes wrong is in the finding, too.
PathFinding probe_path(PathUse use, const std::string& path);

// Of a file system by its magic number (statfs(2)): "ext4", "nfs"; and whether it lives on another machine.
struct FileSystemKind {
    std::string name;
    bool network = false;
};
FileSystemKind file_system_kind(unsigned long magic);
// Of what `path` is on; "unknown" and local if that can't be told.
FileSystemKind file_system_of(const std::string& path);

}  // namespace llmgw
