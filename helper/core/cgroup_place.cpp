#include "core/cgroup_place.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view step_name = "/step_extern";

bool has_word(std::string_view list, std::string_view word) {
    const std::vector<std::string_view> words = split(list, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_below(std::string_view path, std::string_view directory) {
    return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

std::optional<std::string> place_in_v2(std::string_view path) {
    constexpr std::string_view own = "/slurm";
    if (!path.ends_with(own)) return std::nullopt;
    path.remove_suffix(own.size());
    if (!path.ends_with(step_name)) return std::nullopt;
    return std::string(path);
}

std::optional<std::string> place_in_v1(std::string_view path) {
    const std::size_t job = path.rfind("/job_");
    if (job == std::string_view::npos) return std::nullopt;
    const std::size_t end = path.find('/', job + 1);
    if (end == std::string_view::npos) return std::string(path) + std::string(step_name);
    if (!is_below(path.substr(end), step_name)) return std::nullopt;
    return std::string(path.substr(0, end)) + std::string(step_name);
}

// The fields of a line of mountinfo (proc(5)) that are needed here.
struct Mount {
    std::string_view root, point, type, options;
};

std::optional<Mount> parse_mount(std::string_view line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return std::nullopt;
    const std::vector<std::string_view> first = split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> second = split(line.substr(dash + 3), ' ');
    if (first.size() < 5 || second.size() < 3) return std::nullopt;
    return Mount{first[3], first[4], second[0], second[2]};
}

}  // namespace

Cgroups parse_cgroups(std::string_view text) {
    Cgroups found;
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos || second + 1 >= line.size() || line[second + 1] != '/')
            continue;
        found.push_back(
            {std::string(line.substr(first + 1, second - first - 1)), std::string(line.substr(second + 1))});
    }
    return found;
}

std::optional<StepPlace> extern_step_place(const Cgroups& slurmstepd) {
    for (const CgroupLine& line : slurmstepd) {
        std::optional<std::string> path;
        if (line.controllers.empty()) path = place_in_v2(line.path);
        if (has_word(line.controllers, "freezer")) path = place_in_v1(line.path);
        if (path) return StepPlace{line.controllers, *path};
    }
    return std::nullopt;
}

std::optional<StepPlace> jobs_place_of(const StepPlace& place, unsigned user) {
    const std::size_t job = place.path.rfind("/job_");
    if (place.tracker.empty() || job == std::string::npos || job == 0) return std::nullopt;
    const std::size_t owner = place.path.rfind('/', job - 1);
    if (owner == std::string::npos || place.path.compare(owner, 5, "/uid_") != 0) return std::nullopt;
    return StepPlace{place.tracker, place.path.substr(0, owner) + "/uid_" + std::to_string(user)};
}

std::vector<std::string> held_in(const Cgroups& process, const StepPlace& place) {
    std::vector<std::string> held;
    for (const CgroupLine& line : process) {
        if (is_below(line.path, place.path)) held.push_back(line.controllers);
    }
    return held;
}

std::string escaped_from(const Cgroups& process, const StepPlace& place,
                         const std::vector<std::string>& wanted) {
    const std::vector<std::string> held = held_in(process, place);
    std::vector<std::string> missing;
    for (const std::string& each : wanted) {
        if (std::find(held.begin(), held.end(), each) != held.end()) continue;
        missing.push_back(each.empty() ? "cgroup v2" : each);
    }
    return join(missing, ", ");
}

std::optional<std::string> cgroup_directory(std::string_view mountinfo, const StepPlace& place) {
    const std::string_view type = place.tracker.empty() ? "cgroup2" : "cgroup";
    for (const std::string_view line : split(mountinfo, '\n')) {
        const std::optional<Mount> mount = parse_mount(line);
        if (!mount || mount->type != type) continue;
        if (!place.tracker.empty() && !has_word(mount->options, split(place.tracker, ',').front())) continue;
        const std::string_view root = mount->root == "/" ? std::string_view() : mount->root;
        if (!is_below(place.path, root)) continue;
        return std::string(mount->point) + place.path.substr(root.size());
    }
    return std::nullopt;
}

}  // namespace llmgw
