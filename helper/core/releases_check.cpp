#include "core/releases_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/url.hpp"

namespace llmgw {
namespace {

constexpr std::array<std::string_view, 2> enroot_names = {"enroot", "enroot+caps"};

bool consists_of(std::string_view text, std::string_view others) {
    return std::all_of(text.begin(), text.end(), [others](char c) {
        return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
    });
}

bool is_version(std::string_view text) {
    return !text.empty() && text.size() <= limits::report_word_bytes && is_alphanumeric(text.front()) &&
           consists_of(text, ".+~-");
}

// A package manager's own, which may have an epoch.
bool is_package_version(std::string_view text) {
    return !text.empty() && text.size() <= limits::report_word_bytes && is_alphanumeric(text.front()) &&
           consists_of(text, ".+~:-");
}

bool is_package_name(std::string_view text) {
    return !text.empty() && text.size() <= limits::name_bytes && is_alphanumeric(text.front()) &&
           consists_of(text, ".+-_");
}

bool is_fingerprint(std::string_view text) {
    return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
           });
}

// The parts of NAME_VERSION_ARCHITECTURE.deb or NAME-VERSION.ARCHITECTURE.rpm.
struct PackageName {
    std::string_view package;
    std::string_view version;  // with the package's own revision
    std::string_view architecture;
};

std::optional<PackageName> parts_of(std::string_view file, Family family) {
    if (!file.ends_with(family == Family::deb ? ".deb" : ".rpm")) return std::nullopt;
    file.remove_suffix(4);
    if (family == Family::deb) {
        const std::vector<std::string_view> parts = split(file, '_');
        if (parts.size() != 3) return std::nullopt;
        return PackageName{parts[0], parts[1], parts[2]};
    }
    const std::size_t dot = file.rfind('.');
    const std::size_t release = file.rfind('-', dot);
    const std::size_t version =
        release == std::string_view::npos || release == 0 ? release : file.rfind('-', release - 1);
    if (dot == std::string_view::npos || release == std::string_view::npos ||
        version == std::string_view::npos || version == 0)
        return std::nullopt;
    return PackageName{file.substr(0, version), file.substr(version + 1, dot - version - 1),
                       file.substr(dot + 1)};
}

bool fits(std::string_view architecture, const Platform& platform) {
    if (platform.family == Family::deb)
        return architecture == text_of(platform.architecture) || architecture == "all";
    return architecture == (platform.architecture == Architecture::amd64 ? "x86_64" : "aarch64") ||
           architecture == "noarch";
}

class Checker {
  public:
    explicit Checker(const ParsedReleases& parsed) : parsed_(parsed), releases_(parsed.releases) {}

    std::vector<SettingError> check();

  private:
    void check_enroot();
    void check_platform(const Platform& platform, const std::vector<PinnedFile>& files);
    void check_package(const std::string& key, const std::string& file, const Platform& platform,
                       std::string_view wanted);
    void check_file(const std::string& key, const PinnedFile& file);
    void check_name(const std::string& key, const std::string& name);
    void check_url(const std::string& key, const std::string& url);
    void check_nvidia();
    void check_version(const std::string& key, const std::string& version);

    [[nodiscard]] bool was_read(const std::string& key) const { return !parsed_.unread.contains(key); }
    void error(std::string key, std::string message) {
        errors_.push_back({std::move(key), std::move(message), 0, 0});
    }

    const ParsedReleases& parsed_;
    const Releases& releases_;
    std::map<std::string, std::string> keys_;  // by the file's name
    std::vector<SettingError> errors_;
};

std::vector<SettingError> Checker::check() {
    if (!was_read("")) return {};
    if (was_read("enroot")) check_enroot();
    if (was_read("pyxis")) {
        check_version("pyxis.version", releases_.pyxis.version);
        if (was_read("pyxis.source")) check_file("pyxis.source", releases_.pyxis.source);
    }
    if (was_read("nvidia-container-library")) check_nvidia();
    return std::move(errors_);
}

void Checker::check_version(const std::string& key, const std::string& version) {
    if (!was_read(key) || is_version(version)) return;
    error(key, shown(version) + " is no version: use letters, digits and . + ~ -, such as 4.2.1");
}

void Checker::check_enroot() {
    check_version("enroot.version", releases_.enroot.version);
    if (was_read("enroot.origin")) {
        const std::string& origin = parsed_.enroot_origin;
        check_url("enroot.origin", origin);
        if (!origin.ends_with('/'))
            error("enroot.origin", shown(origin) + " must end with a slash: files' names are put behind it");
    }
    if (!was_read("enroot.files")) return;
    for (const auto& [platform, files] : releases_.enroot.packages) check_platform(platform, files);
    const auto unread_part =
        std::any_of(parsed_.unread.begin(), parsed_.unread.end(),
                    [](const std::string& key) { return key.starts_with("enroot.files."); });
    if (releases_.enroot.packages.empty() && !unread_part)
        error("enroot.files", "empty: no machine could get anything");
}

void Checker::check_platform(const Platform& platform, const std::vector<PinnedFile>& files) {
    const std::string list = "enroot.files." + std::string(text_of(platform.family)) + "." +
                             std::string(text_of(platform.architecture));
    if (files.size() != enroot_names.size()) {
        error(list, std::to_string(files.size()) +
                        " packages: two are needed, enroot and enroot+caps, in that order");
    }
    for (std::size_t index = 0; index < files.size(); ++index) {
        const std::string key = list + '[' + std::to_string(index) + ']';
        if (!was_read(key)) continue;
        const PinnedFile& file = files[index];
        check_name(key + ".name", file.name);
        if (index < enroot_names.size() && is_pinned_name(file.name))
            check_package(key + ".name", file.name, platform, enroot_names.at(index));
        if (was_read(key + ".sha256") && !is_sha256(file.sha256))
            error(key + ".sha256", shown(file.sha256) + " is no SHA-256: use its 64 digits, in lower case");
    }
}

// A package of the wrong kind in a list would only be noticed on a machine, by dpkg or rpm.
void Checker::check_package(const std::string& key, const std::string& file, const Platform& platform,
                            std::string_view wanted) {
    if (!was_read(key)) return;
    const std::optional<PackageName> parts = parts_of(file, platform.family);
    if (!parts) {
        error(key, shown(file) + " is no name of a " + std::string(text_of(platform.family)) +
                       " package, such as " +
                       (platform.family == Family::deb ? "enroot_4.2.1-1_amd64.deb"
                                                       : "enroot-4.2.1-1.el8.x86_64.rpm"));
        return;
    }
    if (parts->package != wanted) {
        error(key, shown(file) + " is a package of " + std::string(parts->package) + ", and " +
                       std::string(wanted) + " is wanted here");
    }
    if (!fits(parts->architecture, platform)) {
        error(key, shown(file) + " is for " + std::string(parts->architecture) + ", and stands under " +
                       std::string(text_of(platform.architecture)));
    }
    const std::string& version = releases_.enroot.version;
    const bool same =
        parts->version.starts_with(version) &&
        (parts->version.size() == version.size() || !is_alphanumeric(parts->version[version.size()]));
    if (was_read("enroot.version") && is_version(version) && !same)
        error(key, shown(file) + " is not of enroot's version " + version);
}

void Checker::check_name(const std::string& key, const std::string& name) {
    if (!was_read(key)) return;
    if (!is_pinned_name(name)) {
        error(key,
              shown(name) +
                  " is no name for a file here: use a letter or digit, then letters, digits, . _ + ~ -, and "
                  "none of the endings .part .from .rejected");
        return;
    }
    const auto [place, is_new] = keys_.emplace(name, key);
    if (!is_new) error(key, shown(name) + " is already " + place->second + ": files share one directory");
}

void Checker::check_url(const std::string& key, const std::string& url) {
    if (!was_read(key)) return;
    const Result<Url> parsed = parse_url(url);
    if (!parsed) {
        error(key, parsed.error().message);
    } else if (!parsed.value().tls && !is_loopback(parsed.value().host)) {
        error(key, "plain http is only used towards loopback, and " + shown(parsed.value().host) +
                       " is elsewhere: use an https:// URL");
    }
}

void Checker::check_file(const std::string& key, const PinnedFile& file) {
    check_name(key + ".name", file.name);
    check_url(key + ".url", file.url);
    if (was_read(key + ".sha256") && !is_sha256(file.sha256))
        error(key + ".sha256", shown(file.sha256) + " is no SHA-256: use its 64 digits, in lower case");
}

void Checker::check_nvidia() {
    const std::string top = "nvidia-container-library";
    const Releases::NvidiaRepository& nvidia = releases_.nvidia;
    if (was_read(top + ".package") && !is_package_name(nvidia.package))
        error(top + ".package", shown(nvidia.package) + " is no name of a package");
    if (!nvidia.version.empty() && !is_package_version(nvidia.version))
        error(top + ".version", shown(nvidia.version) + " is no version: use letters, digits and . + ~ : -");
    if (was_read(top + ".key")) {
        check_file(top + ".key", nvidia.key);
        if (was_read(top + ".key.fingerprint") && !is_fingerprint(nvidia.key_fingerprint)) {
            error(top + ".key.fingerprint",
                  shown(nvidia.key_fingerprint) +
                      " is no fingerprint: use the primary key's 40 digits, in upper case "
                      "and without blanks");
        }
    }
    if (was_read(top + ".deb")) {
        check_url(top + ".deb.uri", nvidia.deb_uri);
        const std::string& suite = nvidia.deb_suite;
        if (was_read(top + ".deb.suite") && (suite.empty() || suite.size() > limits::name_bytes ||
                                             suite.front() == '-' || !consists_of(suite, "/._-"))) {
            error(top + ".deb.suite", shown(suite) + " is no suite: use letters, digits and / . _ -");
        }
    }
    if (was_read(top + ".rpm")) check_url(top + ".rpm.baseurl", nvidia.rpm_baseurl);
}

}  // namespace

std::vector<SettingError> check_releases(const ParsedReleases& parsed) {
    return Checker(parsed).check();
}

}  // namespace llmgw
