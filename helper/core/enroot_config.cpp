#include "core/enroot_config.hpp"

#include <algorithm>

#include "core/shown.hpp"

namespace llmgw {
namespace {

constexpr std::string_view blanks = " \t";

// Of enroot 3.4 to 4.1: enroot.in, runtime.sh, docker.sh and the hooks.
constexpr std::string_view known[] = {
    "ENROOT_ALLOW_HTTP",       "ENROOT_ALLOW_SUPERUSER",  "ENROOT_BUNDLE_ALL",      "ENROOT_BUNDLE_CHECKSUM",
    "ENROOT_CACHE_PATH",       "ENROOT_CONFIG_PATH",      "ENROOT_CONNECT_TIMEOUT", "ENROOT_DATA_PATH",
    "ENROOT_FORCE_OVERRIDE",   "ENROOT_GZIP_PROGRAM",     "ENROOT_LIBRARY_PATH",    "ENROOT_LOGIN_SHELL",
    "ENROOT_MAX_CONNECTIONS",  "ENROOT_MAX_PROCESSORS",   "ENROOT_MOUNT_HOME",      "ENROOT_NATIVE_OVERLAYFS",
    "ENROOT_REMAP_ROOT",       "ENROOT_RESTRICT_DEV",     "ENROOT_ROOTFS_WRITABLE", "ENROOT_RUNTIME_PATH",
    "ENROOT_SET_USER_XATTRS",  "ENROOT_SQUASH_OPTIONS",   "ENROOT_SYSCONF_PATH",    "ENROOT_TEMP_PATH",
    "ENROOT_TRANSFER_RETRIES", "ENROOT_TRANSFER_TIMEOUT", "ENROOT_UNSHARE_IPC",     "ENROOT_UNSHARE_NET",
    "ENROOT_UNSHARE_PID",      "ENROOT_UNSHARE_UTS",      "ENROOT_ZSTD_OPTIONS"};

std::string_view without(std::string_view text, std::string_view dropped) {
    const std::size_t begin = text.find_first_not_of(dropped);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(dropped) - begin + 1);
}

bool is_enroots(std::string_view key) {
    if (!key.starts_with("ENROOT_") || key.size() == 7) return false;
    return std::all_of(key.begin(), key.end(), [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
}

bool is_taken(std::string_view key) {
    return is_enroots(key) || key.starts_with("MELLANOX_") || key.starts_with("NVIDIA_") ||
           key == "SSL_CERT_DIR" || key == "SSL_CERT_FILE" || key == "all_proxy" || key == "no_proxy" ||
           key == "http_proxy" || key == "https_proxy";
}

bool says_nothing(std::string_view line) {
    const std::string_view words = without(line, " \t\r");
    return words.empty() || words.front() == '#';
}

}  // namespace

EnrootConfig parse_enroot_config(std::string_view text) {
    EnrootConfig config;
    std::size_t number = 0;
    const auto doubt = [&](const std::string& what) {
        config.doubts.push_back("line " + std::to_string(number) + " " + what);
    };
    while (!text.empty()) {
        ++number;
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (says_nothing(line)) continue;
        if (end == std::string_view::npos) {
            doubt("has no end, so enroot drops it");
            continue;
        }
        std::string_view words = without(line, blanks);
        const std::string_view key = words.substr(0, words.find_first_of(" \t="));
        if (!is_taken(key)) {
            doubt("sets " + shown(key) + ", which enroot drops");
            continue;
        }
        if (is_enroots(key) && std::find(std::begin(known), std::end(known), key) == std::end(known)) {
            doubt("sets " + std::string(key) + ", which is no setting of enroot's that is known here");
        }
        words = without(words.substr(key.size()), blanks);
        if (words.starts_with('=')) words = without(words.substr(1), blanks);
        config.settings.push_back({std::string(key), std::string(words), number});
    }
    return config;
}

std::optional<std::string> fixed_part(std::string_view value) {
    // "${NAME:-/default}" is as good as its default: a job's environment is for its user to choose.
    if (value.starts_with("${")) {
        const std::size_t close = value.find('}');
        const std::size_t dash = value.find(":-");
        if (close == std::string_view::npos || dash > close) return std::nullopt;
        if (close + 1 != value.size()) return std::nullopt;
        value = value.substr(dash + 2, close - dash - 2);
    }
    if (!value.starts_with('/')) return std::nullopt;
    const std::size_t expanded = value.find_first_of("$`\"'\\*?[{~");
    if (expanded == std::string_view::npos) return std::string(value);
    const std::string_view fixed = value.substr(0, value.rfind('/', expanded));
    return fixed.empty() ? std::string("/") : std::string(fixed);
}

}  // namespace llmgw
