#include "service/releases.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "json/releases_json.hpp"
#include "json/settings_json.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

// One line with all of them; past some they only hide the first.
constexpr std::size_t errors_told = 20;

Result<Releases> parsed(const std::string& text, const std::string& path) {
    json::ReadReleases read = json::read_releases_text(text);
    if (read.ok()) return std::move(read.releases);
    std::vector<std::string> lines;
    for (const SettingError& error : read.errors) {
        if (lines.size() == errors_told) {
            lines.push_back("and " + std::to_string(read.errors.size() - errors_told) + " more");
            break;
        }
        lines.push_back(json::text_of(error));
    }
    return Error{Code::invalid, path + ": " + join(lines, "; ")};
}

Result<void> check_directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0)
        return Error{Code::internal, "cannot look at " + directory + ": " + reason_of(errno)};
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
        return Error{Code::denied, path + " is not used: " + directory + " belongs to user " +
                                       std::to_string(status.st_uid) + ", give it to root"};
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error{Code::denied, path + " is not used: others than root can write in " + directory +
                                       ", run chmod go-w on it"};
    }
    return {};
}

}  // namespace

Result<Releases> read_releases(const std::string& path) {
    const Result<std::string> text = read_file(path, limits::settings_bytes);
    if (!text) return text.error();
    return parsed(text.value(), path);
}

Result<ReleasesInForce> releases_in_force(const std::string& admins, const std::string& installed) {
    struct stat status {};
    if (::lstat(admins.c_str(), &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return Error{Code::internal, "cannot look at " + admins + ": " + reason_of(errno)};
        Result<Releases> releases = read_releases(installed);
        if (!releases) return releases.error();
        return ReleasesInForce{std::move(releases).value(), installed};
    }
    if (S_ISLNK(status.st_mode))
        return Error{Code::denied, admins + " is a symbolic link: put the file itself there"};
    if (Result<void> safe = check_directory_of(admins); !safe) return safe.error();
    // Looks at owner and mode of what it opened, whatever took its place meanwhile.
    const Result<StateFile> file = read_state_file(admins, limits::settings_bytes);
    if (!file) return file.error();
    Result<Releases> releases = parsed(file.value().content, admins);
    if (!releases) return releases.error();
    return ReleasesInForce{std::move(releases).value(), admins};
}

}  // namespace llmgw::service
