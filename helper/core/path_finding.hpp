// Whether a directory can hold what enroot keeps there: what was found out about it (posix/path_probe.hpp),
// and what that means. Layers are put together with whiteouts and extended attributes, and containers run
// from where they were unpacked; many file systems can't do the one or are mounted without the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine_files.hpp"
#include "core/result.hpp"

namespace llmgw {

enum class PathUse {
    data,     // unpacked containers, which run from there
    cache,    // layers as they came
    runtime,  // a few small files for each running container
    temp,     // layers while an image is put together
    shared,   // the cluster's shared path: only has to be there, to be mounted into containers
};

std::string_view text_of(PathUse use);     // "data"
std::string_view setting_of(PathUse use);  // "ENROOT_DATA_PATH"; "" of the shared path

struct PathFinding {
    PathUse use = PathUse::data;
    std::string path;    // as enroot would use it, up to what differs by user
    std::string probed;  // the nearest directory to it that exists
    std::string type;    // "ext4", "nfs"; "0x1234" for one without a name here
    bool network = false;
    bool read_only = false;
    bool noexec = false;
    bool user_xattrs = false;
    bool trusted_xattrs = false;
    bool whiteouts = false;  // mknod(c, 0, 0)
    std::uint64_t free_bytes = 0;
    std::optional<std::uint64_t> free_inodes;  // nothing: the file system has no fixed number of them
    std::string failure;                       // of the probe itself, "" if it went well

    bool operator==(const PathFinding&) const = default;
};

// One sentence that names the path, the property that fails and what to do; nothing: it will do.
std::optional<std::string> unfit(const PathFinding& finding);

struct PathNeed {
    PathUse use = PathUse::data;
    std::string path;

    bool operator==(const PathNeed&) const = default;
};

// The four directories as this machine's settings (others' before ours) have them, without one whose value
// only a shell can tell, and the shared path unless it is empty.
std::vector<PathNeed> path_needs(const EnrootLayout& layout, const std::string& shared_path);

// How a finding comes out of the process that probes.
std::string state_text_of(const PathFinding& finding);
Result<PathFinding> path_finding_from(std::string_view text);

}  // namespace llmgw
