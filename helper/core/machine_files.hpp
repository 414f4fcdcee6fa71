// The files that make enroot work for jobs, as values: pure. What is on the machine comes from
// service/enroot_layout.hpp. Every file and line is explained in docs/machine.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enroot_config.hpp"
#include "core/result.hpp"
#include "core/settings.hpp"

namespace llmgw {

struct MachineFile {
    std::string path;
    std::string content;
    unsigned mode = 0644;

    bool operator==(const MachineFile&) const = default;
};

struct EnrootValue {
    std::string value;  // as written, for a shell to expand
    std::string file;

    bool operator==(const EnrootValue&) const = default;
};

// How this machine's enroot reads its settings, and what others than us have set.
struct EnrootLayout {
    std::string program = "/usr/bin/enroot";  // the one that is looked after
    std::string directory = "/etc/enroot";
    std::string tmpfiles_directory = "/etc/tmpfiles.d";
    bool reads_dropins = true;          // enroot.conf.d/*.conf (3.4 and later)
    std::optional<std::string> config;  // enroot.conf, with our lines if they are in it
    unsigned config_mode = 0644;
    // By key, the value that enroot takes: of several the first one counts (4.1 enroot.in, config::export).
    std::map<std::string, EnrootValue> set_by_others;
    std::vector<std::string> foreign;  // what is in a place of ours and doesn't say that it is ours
    // Each enroot on the PATH that slurmd has under systemd, in its order; one with several names once.
    std::vector<std::string> programs;
    std::vector<std::string> doubts;  // what an admin may want to know: a setting that enroot doesn't know

    bool operator==(const EnrootLayout&) const = default;
};

// What ours say where nobody else has said something.
std::vector<EnrootSetting> enroot_defaults();

// What this machine's enroot needs besides its packages: settings, directories at every boot, the shared path
// in containers, and, on a machine without GPUs, a hook that keeps NVIDIA's hook from failing containers
// there. What others have set stays and is left out of ours. Error (conflict): a file that is not ours is in
// the place of one; or another enroot would be run before this one.
Result<std::vector<MachineFile>> enroot_files(const ResolvedSettings& settings, const EnrootLayout& layout,
                                              bool gpu);

// The directories below which each user has a directory user-UID of their own, whoever has set that.
std::vector<std::string> user_directories(const EnrootLayout& layout);

// Every path that enroot_files() could ever give: what is there and not wanted any more is to be removed, if
// it is ours.
std::vector<std::string> enroot_file_places(const EnrootLayout& layout);

// The directories that a tmpfiles file of ours makes.
struct Directory {
    std::string path;
    unsigned mode = 0755;

    bool operator==(const Directory&) const = default;
};
std::vector<Directory> directories_in(std::string_view tmpfiles);

}  // namespace llmgw
