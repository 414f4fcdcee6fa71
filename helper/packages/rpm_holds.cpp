#include "packages/rpm_holds.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "packages/dnf_output.hpp"
#include "packages/in_root.hpp"
#include "posix/file.hpp"

namespace llmgw::packages {
namespace {

constexpr const char* toml_locks = "/etc/dnf/versionlock.toml";
constexpr std::string_view key = "excludepkgs=";

std::vector<std::string> our_repositories(const std::string& root) {
    std::vector<std::string> paths;
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(in_root(root, "/etc/yum.repos.d"), ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("llmgw-") && name.ends_with(".repo")) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

void add_once(std::vector<std::string>& names, std::string_view name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

std::vector<std::string> names_in(std::string_view line) {
    std::vector<std::string> names;
    for (const std::string_view name : split(line.substr(key.size()), ',')) add_once(names, trimmed(name));
    return names;
}

void change(std::vector<std::string>& all, const std::vector<std::string>& names, bool excluded) {
    for (const std::string& name : names) {
        if (excluded)
            add_once(all, name);
        else
            std::erase(all, name);
    }
}

// The text of a file, empty where it isn't there.
Result<std::string> text_of_file(const std::string& path) {
    Result<std::string> text = read_file(path, limits::package_source_bytes);
    if (!text && text.error().code == Code::missing) return std::string();
    return text;
}

}  // namespace

bool has_versionlock_plugin(const std::string& root) {
    const Result<std::string> text =
        read_file(in_root(root, "/etc/dnf/plugins/versionlock.conf"), limits::package_source_bytes);
    if (!text) return false;
    for (const std::string_view line : split(text.value(), '\n')) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || trimmed(line.substr(0, equals)) != "enabled") continue;
        const std::string_view value = trimmed(line.substr(equals + 1));
        if (value == "0" || value == "False" || value == "false" || value == "no") return false;
    }
    return true;
}

void remove_empty_lock_list(const std::string& root) {
    const std::string path = in_root(root, toml_locks);
    const Result<std::string> text = read_file(path, limits::package_source_bytes);
    if (!text) return;
    for (const std::string_view line : split(text.value(), '\n')) {
        const std::string_view said = trimmed(line);
        if (!said.empty() && said != "packages = []" && !said.starts_with("version =")) return;
    }
    ::unlink(path.c_str());
}

std::vector<std::string> excluded_in(std::string_view repository_file) {
    std::vector<std::string> names;
    for (const std::string_view line : split(repository_file, '\n')) {
        if (!line.starts_with(key)) continue;
        for (const std::string& name : names_in(line)) add_once(names, name);
    }
    return names;
}

std::string with_excluded(std::string_view repository_file, const std::vector<std::string>& names,
                          bool excluded) {
    std::string text;
    std::optional<std::vector<std::string>> section;  // what is excluded in it; none: before the first one
    const auto finish = [&] {
        if (!section) return;
        change(*section, names, excluded);
        if (!section->empty()) text += std::string(key) + join(*section, ",") + "\n";
    };
    if (repository_file.ends_with('\n')) repository_file.remove_suffix(1);
    for (const std::string_view line : split(repository_file, '\n')) {
        if (line.starts_with('[')) {
            finish();
            section.emplace();
        }
        if (section && line.starts_with(key)) {
            for (const std::string& name : names_in(line)) add_once(*section, name);
        } else {
            text += std::string(line) + "\n";
        }
    }
    finish();
    return text;
}

Result<std::vector<std::string>> read_holds(const std::string& root) {
    std::vector<std::string> names;
    const Result<std::string> list = text_of_file(in_root(root, "/etc/dnf/plugins/versionlock.list"));
    if (!list) return list.error();
    for (const std::string& name : dnf::parse_locks(list.value())) add_once(names, name);
    const Result<std::string> toml = text_of_file(in_root(root, toml_locks));
    if (!toml) return toml.error();
    for (const std::string& name : dnf::parse_toml_locks(toml.value())) add_once(names, name);
    for (const std::string& path : our_repositories(root)) {
        const Result<std::string> text = text_of_file(path);
        if (!text) return text.error();
        for (const std::string& name : excluded_in(text.value())) add_once(names, name);
    }
    return names;
}

Result<void> exclude_in_our_repositories(const std::string& root, const std::vector<std::string>& names,
                                         bool excluded) {
    const std::vector<std::string> paths = our_repositories(root);
    if (paths.empty() && excluded) {
        return Error{Code::missing, "cannot hold " + join(names, " ") +
                                        ": this dnf has no versionlock plugin (package "
                                        "python3-dnf-plugin-versionlock); install it"};
    }
    for (const std::string& path : paths) {
        const Result<std::string> text = text_of_file(path);
        if (!text) return text.error();
        const std::string changed = with_excluded(text.value(), names, excluded);
        if (changed == text.value()) continue;
        const Result<void> written = write_file_atomically(path, changed, 0644, Durability::durable);
        if (!written) return written;
    }
    return {};
}

}  // namespace llmgw::packages
