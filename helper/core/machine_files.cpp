#include "core/machine_files.hpp"

#include <algorithm>

#include "core/marked_block.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

struct Wanted {
    const char* key;
    const char* value;
    const char* directory;  // the part of it that root makes; null: none
};

// The order is that of enroot's own documentation.
constexpr Wanted wanted[] = {
    {"ENROOT_RUNTIME_PATH", "/run/enroot/user-$(id -u)", "/run/enroot"},
    {"ENROOT_CACHE_PATH", "/var/lib/enroot/cache/user-$(id -u)", "/var/lib/enroot/cache"},
    {"ENROOT_DATA_PATH", "/var/lib/enroot/data/user-$(id -u)", "/var/lib/enroot/data"},
    {"ENROOT_TEMP_PATH", "${TMPDIR:-/tmp}", nullptr},
    {"ENROOT_REMAP_ROOT", "no", nullptr},
    {"ENROOT_ROOTFS_WRITABLE", "yes", nullptr},
};

constexpr std::string_view of_each_user = "/user-$(id -u)";

constexpr std::string_view settings_purpose =
    "where enroot keeps containers, so that they need no login session and no HOME";

bool is_left_to_others(const EnrootLayout& layout, const Wanted& setting) {
    return layout.set_by_others.contains(setting.key);
}

std::string setting_lines(const EnrootLayout& layout) {
    std::string lines;
    for (const Wanted& setting : wanted) {
        if (is_left_to_others(layout, setting)) {
            lines += "# " + std::string(setting.key) + " is set in " +
                     layout.set_by_others.at(setting.key).file + "\n";
        } else {
            lines += std::string(setting.key) + " " + setting.value + "\n";
        }
    }
    return lines;
}

// `value` without the user's part, if nothing else in it is for a shell to expand.
std::string parent_in(const std::string& value) {
    if (!value.starts_with('/') || !value.ends_with(of_each_user)) return {};
    const std::string parent = value.substr(0, value.size() - of_each_user.size());
    return parent.find_first_of("$`\"':\\ ") == std::string::npos ? parent : "";
}

// Every user makes user-UID below the directories that are 1777.
std::string tmpfiles_lines(const EnrootLayout& layout) {
    std::string lines = our_first_line("directories of enroot and pyxis, made at every boot");
    const auto add = [&lines](const std::string& path, const char* mode) {
        const std::string line = "d " + path + " " + mode + " root root -\n";
        if (lines.find(line) == std::string::npos) lines += line;
    };
    for (const Wanted& setting : wanted) {
        if (setting.directory == nullptr || is_left_to_others(layout, setting)) continue;
        const std::string path = setting.directory;
        if (path.starts_with("/var/lib/enroot/")) add("/var/lib/enroot", "0755");
        add(path, "1777");
    }
    // pyxis makes this one when slurmd starts (0.24.0 pyxis_slurmd.c), which would mean to restart slurmd.
    add("/run/pyxis", "0755");
    return lines;
}

std::string shared_lines(const std::string& path) {
    return our_first_line("the cluster's shared path, in every container") + path + " " + path +
           " none x-create=dir,rbind,rw,nosuid\n";
}

// NVIDIA's hook believes what the image or the user's shell says, and fails where no GPU and no
// nvidia-container-cli is. A hook can't change the next one's environment; but it runs in the container's own
// mount namespace, and hooks that are not executable are left out (4.1 common.sh, common::runparts).
std::string no_gpu_hook() {
    return "#!/usr/bin/env bash\n" +
           our_first_line(
               "no GPU is here, so containers start without NVIDIA's hook, whatever they ask for") +
           R"sh(for device in /dev/nvidiactl /dev/nvidia[0-9]*; do
    [ -e "${device}" ] && exit 0
done
source "${ENROOT_LIBRARY_PATH}/common.sh"
for hook in "${ENROOT_SYSCONF_PATH}"/hooks.d/*-nvidia.sh; do
    [ -x "${hook}" ] || continue
    # "slave" keeps it off the machine when root starts a container without a user namespace.
    printf 'none %s none slave\n/dev/null %s none bind\n' "$(common::mountpoint "${hook}")" "${hook}" | enroot-mount -
done
exit 0
)sh";
}

std::string settings_place(const EnrootLayout& layout) {
    // Sorted behind others', whose values come first and count.
    return layout.directory + "/enroot.conf.d/zz-llmgw.conf";
}

std::string tmpfiles_place(const EnrootLayout& layout) {
    return layout.tmpfiles_directory + "/llmgw-enroot.conf";
}

std::string shared_place(const EnrootLayout& layout) {
    return layout.directory + "/mounts.d/50-llmgw-shared.fstab";
}

// Directly before NVIDIA's, 98-nvidia.sh.
std::string hook_place(const EnrootLayout& layout) {
    return layout.directory + "/hooks.d/97-llmgw-no-gpu.sh";
}

Result<MachineFile> settings_file(const EnrootLayout& layout) {
    if (layout.reads_dropins) {
        return MachineFile{settings_place(layout),
                           our_first_line(settings_purpose) +
                               "# What enroot.conf or another file sets is left to it.\n" +
                               setting_lines(layout)};
    }
    const std::string path = layout.directory + "/enroot.conf";
    std::optional<std::string> others;
    if (layout.config) {
        const Result<Unmarked> unmarked = unmark(*layout.config);
        if (!unmarked) return unmarked.error().within(path);
        others = unmarked.value().rest;
    }
    return MachineFile{path, with_block(others, BlockPlace::end, settings_purpose, setting_lines(layout)),
                       layout.config_mode};
}

std::optional<Error> in_the_way(const EnrootLayout& layout) {
    if (!layout.foreign.empty()) {
        return Error{Code::conflict,
                     layout.foreign.front() +
                         " is there and not from llmgw-slurm; move it away, it may stay under "
                         "another name"};
    }
    const std::vector<std::string>& programs = layout.programs;
    if (programs.size() > 1 && programs.front() != layout.program &&
        std::find(programs.begin(), programs.end(), layout.program) != programs.end()) {
        return Error{Code::conflict, "two enroots are installed, and jobs would run " + programs.front() +
                                         " instead of " + layout.program + "; remove one of them"};
    }
    return std::nullopt;
}

}  // namespace

std::vector<EnrootSetting> enroot_defaults() {
    std::vector<EnrootSetting> settings;
    for (const Wanted& setting : wanted) settings.push_back({setting.key, setting.value, 0});
    return settings;
}

Result<std::vector<MachineFile>> enroot_files(const ResolvedSettings& settings, const EnrootLayout& layout,
                                              bool gpu) {
    if (std::optional<Error> problem = in_the_way(layout)) return *problem;
    Result<MachineFile> file = settings_file(layout);
    if (!file) return file.error();
    std::vector<MachineFile> files;
    files.push_back(std::move(file).value());
    files.push_back({tmpfiles_place(layout), tmpfiles_lines(layout)});
    if (!settings.shared_path.empty())
        files.push_back({shared_place(layout), shared_lines(settings.shared_path)});
    if (!gpu) files.push_back({hook_place(layout), no_gpu_hook(), 0755});
    return files;
}

std::vector<std::string> user_directories(const EnrootLayout& layout) {
    std::vector<std::string> parents;
    for (const Wanted& setting : wanted) {
        const auto others = layout.set_by_others.find(setting.key);
        const std::string parent =
            parent_in(others == layout.set_by_others.end() ? setting.value : others->second.value);
        if (!parent.empty()) parents.push_back(parent);
    }
    return parents;
}

std::vector<std::string> enroot_file_places(const EnrootLayout& layout) {
    return {settings_place(layout), tmpfiles_place(layout), shared_place(layout), hook_place(layout)};
}

std::vector<Directory> directories_in(std::string_view tmpfiles) {
    std::vector<Directory> directories;
    for (const std::string_view line : split(tmpfiles, '\n')) {
        const std::vector<std::string_view> words = split(line, ' ');
        if (words.size() < 3 || words[0] != "d") continue;
        unsigned mode = 0;
        for (const char digit : words[2]) mode = mode * 8 + static_cast<unsigned>(digit - '0');
        directories.push_back({std::string(words[1]), mode});
    }
    return directories;
}

}  // namespace llmgw
