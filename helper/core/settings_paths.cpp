#include "core/settings_paths.hpp"

#include <algorithm>
#include <array>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"

namespace llmgw {

namespace {

// Directories that a machine can't do without: mounted over, they would take it down.
constexpr std::array<std::string_view, 15> taken = {
    "/",    "/etc", "/usr", "/var",  "/var/lib", "/home", "/root", "/boot",
    "/opt", "/srv", "/tmp", "/proc", "/sys",     "/dev",  "/run",
};

constexpr std::string_view path_rule =
    "use an absolute path of plain components of letters, digits, _ . -, none beginning with a dot";
constexpr std::string_view nfs_rule = "use host:/path";

bool path_character(char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '-';
}
bool host_character(char c) {
    return path_character(c) || c == ':' || c == '[' || c == ']';
}

std::string problem(std::string_view text, std::string_view what, std::string_view rule) {
    std::string message = shown(text);
    message.append(" ").append(what).append(": ").append(rule);
    return message;
}

std::string too_long(std::string_view text, std::string_view what, std::size_t most) {
    return problem(text, std::string("has ") + std::to_string(text.size()) + " bytes",
                   std::string("use ") + std::string(what) + " of at most " + std::to_string(most));
}

// Of one component, without its slashes.
std::optional<std::string_view> component_problem(std::string_view component) {
    if (component.empty()) return "has an empty component (two slashes together)";
    if (component.front() == '.') return "has a component that begins with a dot";
    if (!std::all_of(component.begin(), component.end(), path_character)) {
        return "has a character that is not allowed";
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> shared_path_problem(std::string_view path) {
    if (path.size() > limits::shared_path_bytes) return too_long(path, "a path", limits::shared_path_bytes);
    if (!path.starts_with('/')) return problem(path, "is not absolute", path_rule);
    if (std::find(taken.begin(), taken.end(), path) != taken.end()) {
        return problem(path, "is a directory of the system itself", "use one of its own, such as /shared");
    }
    if (path.ends_with('/')) return problem(path, "ends with a slash", path_rule);
    std::string_view rest = path;
    while (!rest.empty()) {
        rest.remove_prefix(1);  // the slash
        const std::string_view component = rest.substr(0, rest.find('/'));
        if (const auto what = component_problem(component)) return problem(path, *what, path_rule);
        rest.remove_prefix(component.size());
    }
    return std::nullopt;
}

std::string NfsSource::mount_source() const {
    const bool bare_ipv6 = host.find(':') != std::string::npos && host.find('[') == std::string::npos;
    return (bare_ipv6 ? '[' + host + ']' : host) + ':' + path;
}

std::optional<NfsSource> split_nfs_source(std::string_view text) {
    const std::size_t colon = text.rfind(":/");
    if (colon == std::string_view::npos) return std::nullopt;
    return NfsSource{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

std::optional<std::string> nfs_source_problem(std::string_view text) {
    const auto source = split_nfs_source(text);
    if (!source) return problem(text, "has no :/ between host and path", nfs_rule);
    const auto& [host, path] = *source;
    if (host.empty() || !is_alphanumeric(host.front())) {
        return problem(text, "has a host that does not begin with a letter or digit", nfs_rule);
    }
    if (host.size() > limits::nfs_host_bytes) return too_long(host, "a host", limits::nfs_host_bytes);
    if (!std::all_of(host.begin(), host.end(), host_character)) {
        return problem(text, "has a host with a character that is not allowed",
                       "use a name or address of letters, digits, _ . : [ ] -");
    }
    if (path.size() > limits::shared_path_bytes) return too_long(path, "a path", limits::shared_path_bytes);
    const auto nfs_path_character = [](char c) { return path_character(c) || c == '/'; };
    if (!std::all_of(path.begin(), path.end(), nfs_path_character)) {
        return problem(text, "has a path with a character that is not allowed",
                       "use a path of letters, digits, _ . / -");
    }
    return std::nullopt;
}

}  // namespace llmgw
