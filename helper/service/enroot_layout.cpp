#include "service/enroot_layout.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/enroot_config.hpp"
#include "core/limits.hpp"
#include "core/marked_block.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

using Identity = std::pair<dev_t, ino_t>;

std::vector<std::string> programs_on(const std::vector<std::string>& directories) {
    std::vector<std::string> programs;
    std::vector<Identity> known;
    for (const std::string& directory : directories) {
        const std::string program = directory + "/enroot";
        struct stat status {};
        if (::stat(program.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (::access(program.c_str(), X_OK) != 0) continue;
        const Identity identity{status.st_dev, status.st_ino};
        // /bin is /usr/bin on most machines.
        if (std::find(known.begin(), known.end(), identity) != known.end()) continue;
        known.push_back(identity);
        programs.push_back(program);
    }
    return programs;
}

std::vector<std::string> matches(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> paths;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    ::globfree(&found);
    return paths;
}

bool is_directory(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// enroot is a script that has its configuration's path and, since 3.4, reads "${file}.d"/*.conf; its package
// has the directory then.
bool reads_dropins(const EnrootPlaces& places) {
    if (is_directory(places.directory + "/enroot.conf.d")) return true;
    const Result<std::string> program = read_file(places.program, limits::enroot_program_bytes);
    if (!program) return program.error().code == Code::missing;  // the pinned one will
    return program.value().find("\"${file}.d\"") != std::string::npos ||
           program.value().find("enroot.conf.d") != std::string::npos;
}

void take_settings(const std::string& text, const std::string& path, EnrootLayout& layout) {
    const EnrootConfig config = parse_enroot_config(text);
    for (const EnrootSetting& setting : config.settings) {
        layout.set_by_others.try_emplace(setting.key, EnrootValue{setting.value, path});
    }
    for (const std::string& doubt : config.doubts) layout.doubts.push_back(path + ": " + doubt);
}

Result<void> read_main(const std::string& path, EnrootLayout& layout) {
    Result<std::string> text = read_file(path, limits::enroot_config_bytes);
    if (!text && text.error().code == Code::missing) return {};
    if (!text) return text.error();
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) layout.config_mode = status.st_mode & 07777;
    const Result<Unmarked> unmarked = unmark(text.value());
    if (!unmarked) return unmarked.error().within(path);
    take_settings(unmarked.value().rest.value_or(""), path, layout);
    layout.config = std::move(text).value();
    return {};
}

Result<void> read_dropin(const std::string& path, EnrootLayout& layout) {
    const Result<std::string> text = read_file(path, limits::enroot_config_bytes);
    if (!text) return text.error();
    if (!is_ours(text.value())) take_settings(text.value(), path, layout);
    return {};
}

bool is_foreign(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return false;
    const Result<std::string> text = read_file(path, limits::enroot_config_bytes);
    return !S_ISREG(status.st_mode) || !text || !is_ours(text.value());
}

}  // namespace

Result<EnrootLayout> read_enroot_layout(const EnrootPlaces& places) {
    EnrootLayout layout;
    layout.program = places.program;
    layout.directory = places.directory;
    layout.tmpfiles_directory = places.tmpfiles_directory;
    layout.reads_dropins = reads_dropins(places);
    layout.programs = programs_on(places.path);
    if (Result<void> done = read_main(places.directory + "/enroot.conf", layout); !done) return done.error();
    if (layout.reads_dropins) {
        for (const std::string& path : matches(places.directory + "/enroot.conf.d/*.conf")) {
            if (Result<void> done = read_dropin(path, layout); !done) return done.error();
        }
    }
    for (const std::string& place : enroot_file_places(layout)) {
        if (is_foreign(place)) layout.foreign.push_back(place);
    }
    return layout;
}

}  // namespace llmgw::service
