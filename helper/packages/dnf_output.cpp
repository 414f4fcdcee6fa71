#include "packages/dnf_output.hpp"

#include <algorithm>
#include <map>

#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw::packages::dnf {
namespace {

void add_once(std::vector<std::string>& names, std::string_view name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

// "0:4.2.1-1" -> "4.2.1-1"
std::string without_no_epoch(std::string_view version) {
    if (version.starts_with("0:")) version.remove_prefix(2);
    if (version.starts_with("(none):")) version.remove_prefix(7);
    return std::string(version);
}

// The kernel's packages stay beside each other, and each trusted key is a package of the same name.
bool may_be_there_twice(const std::string& name) {
    return name.starts_with("kernel") || name == "gpg-pubkey";
}

enum class Section { none, added, changed, removed, downgraded };

Section section_of(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("Installing")) return Section::added;
    if (line.starts_with("Upgrading") || line.starts_with("Reinstalling")) return Section::changed;
    if (line.starts_with("Downgrading")) return Section::downgraded;
    if (line.starts_with("Removing")) return Section::removed;
    return Section::none;
}

// "libfoo(x86-64) >= 1.0", but not "libfoo.so.1()(64bit)", "/bin/sh" and "rpmlib(...)", nor what dnf remarks
// meanwhile.
std::vector<std::string> names_needed(const std::string& output) {
    std::vector<std::string> names;
    for (const std::string_view line : split(output, '\n')) {
        const std::vector<std::string_view> words = split(trimmed(line), ' ');
        const bool versioned =
            words.size() == 3 && words[1].find_first_not_of("<=>") == std::string_view::npos;
        if (words.size() != 1 && !versioned) continue;
        const std::string_view name = words[0].substr(0, words[0].find('('));
        const bool file = name.starts_with('/') || name.find(".so.") != std::string_view::npos;
        if (!file && name != "rpmlib") add_once(names, name);
    }
    return names;
}

}  // namespace

std::string Package::full_name() const {
    const std::size_t colon = version.find(':');
    return name + "-" + version.substr(colon == std::string::npos ? 0 : colon + 1) + "." + architecture;
}

std::vector<Package> parse_packages(const std::string& output) {
    std::vector<Package> packages;
    for (const std::string_view line : split(output, '\n')) {
        const std::vector<std::string_view> words = split(line, '\t');
        if (words.size() != 3 || words[0].empty()) continue;
        packages.push_back({std::string(words[0]), without_no_epoch(words[1]), std::string(words[2])});
    }
    return packages;
}

std::vector<Package> left_behind(const std::vector<Package>& packages) {
    std::map<std::pair<std::string, std::string>, const Package*> newest;
    std::vector<Package> older;
    for (const Package& package : packages) {
        if (may_be_there_twice(package.name)) continue;
        const Package*& best = newest[{package.name, package.architecture}];
        if (best == nullptr) {
            best = &package;
        } else if (compare_versions(best->version, package.version) < 0) {
            older.push_back(*std::exchange(best, &package));
        } else {
            older.push_back(package);
        }
    }
    return older;
}

Installed installed_of(const std::vector<Package>& packages) {
    Installed installed;
    for (const Package& package : packages) installed.versions[package.name] = package.version;
    for (const Package& package : left_behind(packages)) {
        installed.broken.push_back(package.name + " (" + package.version + " beside another version)");
        installed.versions.erase(package.name);
    }
    return installed;
}

// Below a line that ends with a colon, each line that is indented by one blank is a package.
std::optional<Table> parse_table(const std::string& output) {
    Table table;
    Section section = Section::none;
    bool asked = false;
    for (const std::string_view line : split(output, '\n')) {
        if (line.starts_with("Operation aborted") || line.starts_with("Nothing to do")) asked = true;
        if (line.starts_with("Transaction Summary")) section = Section::none;
        if (line.size() < 2 || line[0] != ' ') {
            if (trimmed(line).ends_with(':')) section = section_of(line);
            continue;
        }
        if (line[1] == ' ') continue;  // "   replacing enroot ..."
        const std::string_view name = trimmed(line).substr(0, trimmed(line).find(' '));
        if (section == Section::added) add_once(table.preview.added, name);
        if (section == Section::changed || section == Section::downgraded)
            add_once(table.preview.changed, name);
        if (section == Section::downgraded) add_once(table.downgraded, name);
        if (section == Section::removed) add_once(table.preview.removed, name);
    }
    if (!asked) return std::nullopt;
    return table;
}

std::vector<Offer> parse_offers(const std::string& output, const std::string& needs) {
    const std::vector<std::string> names = names_needed(needs);
    std::vector<Offer> offers;
    for (const std::string_view line : split(output, '\n')) {
        const std::vector<std::string_view> words = split(line, '\t');
        if (words.size() != 3) continue;
        // "libnvidia-container-1.17.8-1.src.rpm": the name is what is before the last two dashes.
        const std::string_view file = words[2].substr(0, words[2].rfind('-'));
        Offer offer{without_no_epoch(words[1]), std::string(file.substr(0, file.rfind('-'))), names};
        const bool known = std::any_of(offers.begin(), offers.end(),
                                       [&](const Offer& other) { return other.version == offer.version; });
        if (!known) offers.push_back(std::move(offer));
    }
    std::sort(offers.begin(), offers.end(), [](const Offer& left, const Offer& right) {
        return compare_versions(left.version, right.version) > 0;
    });
    return offers;
}

// "enroot-0:4.2.1-1.el8.*" -> "enroot"; "!..." excludes a version, and is no lock.
std::vector<std::string> parse_locks(std::string_view list) {
    std::vector<std::string> names;
    for (std::string_view line : split(list, '\n')) {
        line = trimmed(line);
        if (line.empty() || line.starts_with('#') || line.starts_with('!')) continue;
        const std::string_view without_release = line.substr(0, line.rfind('-'));
        add_once(names, without_release.substr(0, without_release.rfind('-')));
    }
    return names;
}

std::vector<std::string> parse_toml_locks(std::string_view toml) {
    std::vector<std::string> names;
    for (std::string_view line : split(toml, '\n')) {
        line = trimmed(line);
        if (!line.starts_with("name")) continue;
        const std::size_t open = line.find_first_of("\"'");
        if (open == std::string_view::npos) continue;
        const std::string_view rest = line.substr(open + 1);
        add_once(names, rest.substr(0, rest.find_first_of("\"'")));
    }
    return names;
}

// "  Installing : enroot-4.2.1-1.x86_64   2/3", "[4/5] Installing enroot-0:4.2.1-1.el8.x 100% | ..."
std::string progress_of(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with('[') && line.find("] ") != std::string_view::npos)
        line.remove_prefix(line.find("] ") + 2);
    for (const std::string_view start : {"Installing", "Upgrading", "Removing", "Erasing", "Reinstalling"}) {
        if (!line.starts_with(start)) continue;
        const std::size_t name = line.find_first_not_of(" :", start.size());
        if (name == std::string_view::npos) return {};
        std::string_view rest = line.substr(name);
        rest = rest.substr(0, rest.find(' '));
        // A heading: "Installing dependencies:".
        if (rest.ends_with(':') || rest.find('-') == std::string_view::npos) return {};
        return std::string(start) + " " + printable(rest);
    }
    return {};
}

}  // namespace llmgw::packages::dnf
