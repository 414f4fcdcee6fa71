#include "packages/platform.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "packages/deb.hpp"
#include "packages/in_root.hpp"
#include "packages/rpm.hpp"
#include "posix/file.hpp"

namespace llmgw::packages {
namespace {

constexpr const char* dnf_programs[] = {"/usr/bin/dnf", "/usr/bin/dnf5", "/usr/bin/yum"};
constexpr std::string_view deb_ids[] = {"debian", "ubuntu"};
constexpr std::string_view rpm_ids[] = {"rhel", "fedora", "centos", "rocky", "almalinux", "amzn", "ol"};

bool runs(const std::string& program) {
    return ::access(program.c_str(), X_OK) == 0;
}

template <std::size_t size>
bool is_one_of(std::string_view id, const std::string_view (&ids)[size]) {
    return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
}

std::optional<Family> family_of(const std::vector<std::string_view>& ids) {
    for (const std::string_view id : ids) {
        if (is_one_of(id, deb_ids)) return Family::deb;
        if (is_one_of(id, rpm_ids)) return Family::rpm;
    }
    return std::nullopt;
}

std::optional<Architecture> architecture_of(std::string_view machine) {
    if (machine == "x86_64" || machine == "amd64") return Architecture::amd64;
    if (machine == "aarch64" || machine == "arm64") return Architecture::arm64;
    return std::nullopt;
}

std::string this_kernel() {
    utsname name{};
    return ::uname(&name) == 0 ? name.machine : "";
}

}  // namespace

std::string os_release_value(std::string_view os_release, std::string_view key) {
    for (std::string_view line : split(os_release, '\n')) {
        line = trimmed(line);
        if (!line.starts_with(key) || line.substr(key.size(), 1) != "=") continue;
        std::string_view value = line.substr(key.size() + 1);
        const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'');
        if (quoted && value.back() == value.front()) value = value.substr(1, value.size() - 2);
        return std::string(value);
    }
    return {};
}

std::string_view dpkg_name(Architecture architecture) {
    return text_of(architecture);
}

std::string_view rpm_name(Architecture architecture) {
    return architecture == Architecture::amd64 ? "x86_64" : "aarch64";
}

Result<dnf::Program> find_dnf() {
    for (const char* program : dnf_programs) {
        std::error_code error;
        const std::string real = std::filesystem::canonical(program, error).filename().string();
        // yum 3 of RHEL 7 is another program.
        if (!error && real.starts_with("dnf")) return dnf::Program{program, real == "dnf5"};
    }
    return Error{Code::missing, "neither dnf nor dnf5 is installed"};
}

PlatformFacts gather_platform(const std::string& root) {
    PlatformFacts facts;
    for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
        const Result<std::string> text = read_file(in_root(root, path), limits::package_source_bytes);
        if (text && facts.os_release.empty()) facts.os_release = text.value();
    }
    facts.machine = this_kernel();
    facts.apt = runs("/usr/bin/dpkg-query") && runs("/usr/bin/apt-get");
    facts.rpm = runs("/usr/bin/rpm") && find_dnf().ok();
    return facts;
}

Result<Platform> platform_of(const PlatformFacts& facts) {
    const std::string id = os_release_value(facts.os_release, "ID");
    const std::string like = os_release_value(facts.os_release, "ID_LIKE");
    std::vector<std::string_view> ids{id};
    for (const std::string_view word : split(like, ' ')) ids.push_back(word);
    const std::string found = id.empty() ? "a system whose /etc/os-release has no ID" : shown(id);
    const std::optional<Family> family = family_of(ids);
    if (!family) {
        return Error{Code::invalid,
                     "this machine is " + found + (like.empty() ? "" : " (like " + shown(like) + ")") +
                         ", and there are packages only for systems like Debian and like RHEL"};
    }
    if (!(*family == Family::deb ? facts.apt : facts.rpm)) {
        return Error{Code::invalid, "this machine is " + found + ", but " +
                                        (*family == Family::deb ? "dpkg-query or apt-get" : "rpm or dnf") +
                                        " is not installed"};
    }
    const std::optional<Architecture> architecture = architecture_of(facts.machine);
    if (!architecture) {
        return Error{Code::invalid, "this machine is a " + shown(facts.machine) +
                                        ", and there are packages only for amd64 and arm64"};
    }
    return Platform{*family, *architecture};
}

Result<Platform> platform_of_this_machine() {
    return platform_of(gather_platform());
}

Result<std::unique_ptr<Manager>> manager_for(Family family, TaskRunner& runner, ManagerOptions options) {
    const std::optional<Architecture> architecture = architecture_of(this_kernel());
    if (!architecture) return Error{Code::invalid, "there are packages only for amd64 and arm64"};
    while (options.root.size() > 1 && options.root.ends_with('/')) options.root.pop_back();
    if (family == Family::deb) {
        return std::unique_ptr<Manager>(
            std::make_unique<DebManager>(runner, std::move(options), std::string(dpkg_name(*architecture))));
    }
    Result<dnf::Program> dnf = find_dnf();
    if (!dnf) return dnf.error();
    return std::unique_ptr<Manager>(std::make_unique<RpmManager>(
        runner, std::move(options), std::move(dnf).value(), std::string(rpm_name(*architecture))));
}

}  // namespace llmgw::packages
