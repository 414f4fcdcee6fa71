#include "posix/gpu_holders.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

constexpr int most_looks = 5;

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// A device by its number, whatever its file is called in a container; a stand-in for one by its inode.
struct Device {
    std::string path;
    bool character = false;
    dev_t device = 0;
    ino_t inode = 0;

    [[nodiscard]] bool is(const struct stat& status) const {
        if (character) return S_ISCHR(status.st_mode) && status.st_rdev == device;
        return status.st_dev == device && status.st_ino == inode;
    }
};

std::vector<Device> devices_of(const std::vector<std::string>& patterns) {
    std::vector<Device> devices;
    for (const std::string& pattern : patterns) {
        glob_t matches{};
        if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
            for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
                struct stat status {};
                if (::stat(matches.gl_pathv[i], &status) != 0) continue;
                const bool character = S_ISCHR(status.st_mode);
                if (!character && !S_ISREG(status.st_mode)) continue;
                devices.push_back({matches.gl_pathv[i], character, character ? status.st_rdev : status.st_dev,
                                   status.st_ino});
            }
        }
        ::globfree(&matches);
    }
    return devices;
}

const Device* device_of(const std::vector<Device>& devices, const struct stat& status) {
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const Device& device) { return device.is(status); });
    return found == devices.end() ? nullptr : &*found;
}

// Only what can be one is looked at more closely: a file of a dead file server would hold us for ever.
bool worth_a_look(const std::string& path, const std::vector<Device>& devices) {
    return path.starts_with("/dev/") ||
           std::any_of(devices.begin(), devices.end(),
                       [&](const Device& device) { return path == device.path; });
}

bool has(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

std::string link_at(int directory, const char* name) {
    std::array<char, 4096> text{};
    const ssize_t length = ::readlinkat(directory, name, text.data(), text.size() - 1);
    return length < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(length));
}

bool is_gone(int error) {
    return error == ENOENT || error == ESRCH;
}

// The first device that one of its descriptors is. nullopt: could not be found out.
std::optional<const Device*> open_device(int process, const std::vector<Device>& devices) {
    const int listed = ::openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (listed < 0) return is_gone(errno) ? std::optional<const Device*>(nullptr) : std::nullopt;
    const Directory directory(::fdopendir(listed));
    if (!directory) return std::nullopt;
    while (const dirent* entry = ::readdir(directory.get())) {
        if (entry->d_name[0] == '.') continue;
        const std::string path = link_at(::dirfd(directory.get()), entry->d_name);
        if (path.empty() && !is_gone(errno)) return std::nullopt;
        if (!worth_a_look(path, devices)) continue;
        struct stat status {};
        if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, 0) != 0) continue;
        if (const Device* device = device_of(devices, status)) return device;
    }
    return nullptr;
}

// What is mapped stays in use after its descriptor is closed: "begin-end perms offset major:minor inode
// path".
std::optional<const Device*> mapped_device(const std::string& process, const std::vector<Device>& devices) {
    std::ifstream maps(process + "/maps");
    if (!maps) return is_gone(errno) ? std::optional<const Device*>(nullptr) : std::nullopt;
    for (std::string line; std::getline(maps, line);) {
        unsigned device_major = 0;
        unsigned device_minor = 0;
        unsigned long inode = 0;
        if (std::sscanf(line.c_str(), "%*s %*s %*s %x:%x %lu", &device_major, &device_minor, &inode) != 3)
            continue;
        const std::size_t at = line.find('/');
        if (inode == 0 || at == std::string::npos) continue;
        for (const Device& device : devices) {
            const bool same_file = !device.character && device.inode == inode &&
                                   device.device == makedev(device_major, device_minor);
            if (same_file || (device.character && line.compare(at, std::string::npos, device.path) == 0))
                return &device;
        }
    }
    return nullptr;
}

Result<std::vector<std::string>> look(const std::vector<Device>& devices, const GpuRules& rules) {
    std::vector<std::string> holders;
    const Directory all(::opendir("/proc"));
    if (!all) return Error{Code::internal, "/proc can't be read: " + reason_of(errno)};
    while (const dirent* entry = ::readdir(all.get())) {
        const std::string pid = entry->d_name;
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        const std::string path = "/proc/" + pid;
        const Descriptor process(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!process.open()) continue;
        std::optional<const Device*> device = open_device(process.get(), devices);
        const char* how = "open";
        if (device && *device == nullptr) {
            device = mapped_device(path, devices);
            how = "mapped";
        }
        if (device && *device == nullptr) continue;
        const Result<std::string> read = read_file(path + "/comm", 64);
        const std::string name = read ? printable(read.value().substr(0, read.value().find('\n')), 32) : "?";
        if (!device && !read) continue;  // it has ended
        if (!device && has(rules.unseen, name)) continue;
        if (!device) {
            return Error{Code::internal,
                         "what process " + pid + " (" + name +
                             ") has open can't be seen; the helper needs CAP_SYS_PTRACE for it"};
        }
        if (has(rules.allowed, link_at(process.get(), "exe"))) continue;
        holders.push_back("pid " + pid + " (" + name + ") has " + (*device)->path + " " + how);
    }
    std::sort(holders.begin(), holders.end());
    return holders;
}

}  // namespace

GpuRules usual_gpu_rules() {
    return {{"/dev/nvidia[0-9]*", "/dev/nvidia-uvm", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/renderD*",
             "/dev/accel/accel*"},
            {"/usr/bin/nvidia-persistenced", "/usr/bin/nv-hostengine", "/usr/bin/nv-fabricmanager",
             "/usr/libexec/datacenter-gpu-manager-4/nv-hostengine"},
            {}};
}

Result<std::vector<std::string>> gpu_holders(const GpuRules& rules) {
    const std::vector<Device> devices = devices_of(rules.devices);
    if (devices.empty()) return std::vector<std::string>{};
    Result<std::vector<std::string>> before = look(devices, rules);
    for (int looks = 1; before && looks < most_looks; ++looks) {
        Result<std::vector<std::string>> again = look(devices, rules);
        const bool same = again && again.value() == before.value();
        before = std::move(again);
        if (same) break;
    }
    return before;
}

}  // namespace llmgw
