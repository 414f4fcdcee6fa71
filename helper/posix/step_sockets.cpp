#include "posix/step_sockets.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "core/limits.hpp"
#include "core/slurmd_view.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
// Slurm's default, and that of Debian's sample: for a slurmd whose slurm.conf is in no usual place.
constexpr const char* usual_spool[] = {"/var/spool/slurmd", "/var/lib/slurm/slurmd"};

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::vector<std::string> directories_of(const std::string& pattern) {
    if (pattern.find('*') == std::string::npos) return {pattern};
    std::vector<std::string> found;
    glob_t matches{};
    if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
        found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    }
    ::globfree(&matches);
    return found;
}

// Appends a slurm.conf and what it includes; what is too deep or too large is an error.
Result<void> append_conf(std::string& text, const std::string& path, std::size_t depth) {
    const Result<std::string> content = read_file(path, limits::slurm_conf_bytes);
    if (!content) return content.error();
    if (depth > limits::slurm_conf_depth || text.size() > limits::slurm_conf_bytes) {
        return Error{Code::too_large, path + " includes too much"};
    }
    text += content.value() + "\n";
    for (const std::string_view line : split(content.value(), '\n')) {
        const std::optional<std::string> included = slurm_conf_include(line);
        if (!included || contains(*included, "%")) continue;
        const std::string file =
            included->starts_with('/') ? *included : directory_of(path) + "/" + *included;
        if (Result<void> appended = append_conf(text, file, depth + 1); !appended) return appended;
    }
    return {};
}

bool has_entries(const std::string& path) {
    const Directory directory(::opendir(path.c_str()));
    if (!directory) return false;
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") return true;
    }
    return false;
}

bool slurmd_left(const std::vector<std::string>& spool) {
    for (const std::string& pattern : spool) {
        for (const std::string& directory : directories_of(pattern)) {
            if (has_entries(directory)) return true;
        }
    }
    return false;
}

bool is_socket(int directory, const char* name, ExternStep& step) {
    struct stat status {};
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(status.st_mode)) {
        return false;
    }
    step.born_ns = status.st_mtim.tv_sec * ns_per_second + status.st_mtim.tv_nsec;
    return true;
}

// "NODE_JOB.STEP"; sockets are tried for by name alone, since only a hint depends on it.
bool is_step_name(std::string_view name) {
    const std::size_t underscore = name.rfind('_');
    return underscore != std::string_view::npos && step_of_socket(name, name.substr(0, underscore));
}

void look_in(const std::string& path, StepsHere& found, bool& others) {
    const Directory directory(::opendir(path.c_str()));
    if (!directory) return;
    while (const dirent* entry = ::readdir(directory.get())) {
        std::optional<ExternStep> step = parse_extern_socket(entry->d_name);
        if (!step) {
            others = others || is_step_name(entry->d_name);
            continue;
        }
        if (found.extern_steps.size() >= limits::extern_steps) return;
        if (!is_socket(::dirfd(directory.get()), entry->d_name, *step)) continue;
        step->directory = path;
        found.extern_steps.push_back(std::move(*step));
    }
}

}  // namespace

SlurmHere read_slurm_here(const SlurmPlaces& places, const std::string& host) {
    SlurmHere here;
    here.spool = places.spool;
    for (const std::string& path : places.conf) {
        std::string text;
        if (Result<void> read = append_conf(text, path, 0); !read) {
            if (read.error().code != Code::missing) here.host.unknown = read.error().message;
            // An include that is missing: what was read before it counts.
            if (text.empty()) continue;
        }
        const SlurmHost slurm = parse_slurm_host(text);
        if (places.spool.empty() &&
            std::find(here.spool.begin(), here.spool.end(), slurm.spool) == here.spool.end()) {
            here.spool.push_back(slurm.spool);
        }
        here.host.controller = here.host.controller || is_controller(slurm, host);
    }
    if (here.spool.empty()) here.spool.assign(std::begin(usual_spool), std::end(usual_spool));
    here.host.slurmd_left = slurmd_left(here.spool);
    return here;
}

StepsHere find_extern_steps(const std::vector<std::string>& spool) {
    StepsHere found;
    bool others = false;
    for (const std::string& pattern : spool) {
        for (const std::string& directory : directories_of(pattern)) look_in(directory, found, others);
    }
    found.without_extern = others && found.extern_steps.empty();
    sort_newest_first(found.extern_steps);
    return found;
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "";
    return name.data();
}

}  // namespace llmgw
