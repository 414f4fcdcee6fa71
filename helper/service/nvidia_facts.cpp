#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "crypto/digest.hpp"
#include "packages/in_root.hpp"
#include "packages/sources.hpp"
#include "posix/file.hpp"
#include "service/nvidia_repository.hpp"

namespace llmgw::service {
namespace {

constexpr const char* nodes[] = {"/dev/nvidiactl", "/dev/nvidia0"};
constexpr std::string_view nvidia_vendor = "0x10de";
constexpr std::string_view display_class = "0x03";  // VGA (0300) and 3D (0302) controllers
constexpr std::size_t small_file = 4096;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

std::string small_text(const std::string& path) {
    const Result<std::string> text = read_file(path, small_file);
    return text ? std::string(trimmed(text.value().substr(0, text.value().find('\n')))) : "";
}

// What the set's packages are called: "libnvidia-container-tools" -> "libnvidia-container".
std::string_view stem_of(std::string_view package) {
    return package.substr(0, package.rfind('-'));
}

// Of the set, and not what somebody builds or debugs with.
bool is_of_set(std::string_view name, std::string_view package) {
    constexpr std::string_view others[] = {"-dev",       "-devel",       "-dbg",   "-dbgsym",
                                           "-debuginfo", "-debugsource", "-static"};
    return name.starts_with(stem_of(package)) && name.find(':') == std::string_view::npos &&
           std::none_of(std::begin(others), std::end(others),
                        [&](std::string_view ending) { return name.ends_with(ending); });
}

bool everybody_reads(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0444U) == 0444U;
}

bool is_pinned_key(const std::string& path, const PinnedFile& key) {
    const Result<std::string> text = read_file(path, limits::openpgp_key_bytes);
    if (!text || !everybody_reads(path)) return false;
    const Result<std::string> digest = crypto::sha256_hex(text.value());
    return digest && digest.value() == key.sha256;
}

std::string named(const std::map<std::string, std::string>& versions) {
    std::vector<std::string> words;
    for (const auto& [name, version] : versions) words.push_back(name + " " + version);
    return join(words, ", ");
}

}  // namespace

std::string nvidia_device(const std::string& root) {
    for (const char* node : nodes) {
        struct stat status {};
        if (::stat(packages::in_root(root, node).c_str(), &status) == 0 && S_ISCHR(status.st_mode))
            return node;
    }
    const std::string bus = packages::in_root(root, "/sys/bus/pci/devices");
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(bus.c_str()));
    std::vector<std::string> addresses;
    while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
        if (entry->d_name[0] != '.') addresses.emplace_back(entry->d_name);
    }
    std::sort(addresses.begin(), addresses.end());
    for (const std::string& address : addresses) {
        const std::string device = bus + "/" + address;
        if (small_text(device + "/vendor") == nvidia_vendor &&
            small_text(device + "/class").starts_with(display_class)) {
            return "PCI device " + address;
        }
    }
    return {};
}

Result<NvidiaFacts> gather_nvidia(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                                  packages::Manager& manager) {
    NvidiaFacts facts;
    facts.device = nvidia_device(place.root);
    const bool deb = place.platform.family == Family::deb;
    const std::string wanted =
        packages::plain_uri(deb ? release.deb_uri : release.rpm_baseurl, place.platform.architecture);
    const std::string ours = nvidia_source_path(place);
    for (const packages::Source& source : packages::read_sources(place.platform.family, place.root)) {
        const bool same = packages::plain_uri(source.uri, place.platform.architecture) == wanted;
        if (same && source.file != ours && facts.site_source.empty()) facts.site_source = source.file;
    }
    facts.key = is_pinned_key(nvidia_key_path(place), release.key);
    // A hold may have added a line to a yum source.
    const Result<std::string> source = read_file(ours, limits::package_source_bytes);
    facts.source = source && everybody_reads(ours) &&
                   source.value().starts_with(
                       nvidia_source_text(release, place.platform.family, nvidia_key_path(place)));
    const Result<packages::Installed> installed = manager.installed();
    if (!installed) return installed.error();
    const Result<std::vector<std::string>> held = manager.held();
    if (!held) return held.error();
    for (const auto& [name, version] : installed.value().versions) {
        if (!is_of_set(name, release.package)) continue;
        facts.versions[name] = version;
        if (std::find(held.value().begin(), held.value().end(), name) != held.value().end()) {
            facts.held.push_back(name);
        }
    }
    return facts;
}

std::optional<std::string> nvidia_repository_lacks(const NvidiaFacts& facts) {
    if (facts.device.empty() || !facts.site_source.empty()) return std::nullopt;
    if (!facts.key) return "NVIDIA's key is not in place";
    if (!facts.source) return "NVIDIA's repository is not among the package sources";
    return std::nullopt;
}

std::optional<std::string> nvidia_packages_lack(const NvidiaFacts& facts,
                                                const Releases::NvidiaRepository& release) {
    if (facts.device.empty()) return std::nullopt;
    const auto found = facts.versions.find(release.package);
    if (found == facts.versions.end()) return release.package + " is not installed";
    const std::string wanted = release.version.empty() ? found->second : release.version;
    for (const auto& [name, version] : facts.versions) {
        if (version != wanted) {
            return "the packages of NVIDIA's container library are not all at " + wanted + ": " +
                   named(facts.versions);
        }
    }
    for (const auto& [name, version] : facts.versions) {
        if (std::find(facts.held.begin(), facts.held.end(), name) == facts.held.end()) {
            return name + " is not held at " + version;
        }
    }
    return std::nullopt;
}

}  // namespace llmgw::service
