#include "core/path_finding.hpp"

#include <algorithm>
#include <charconv>

#include "core/enroot_config.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/state_text.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view header = "llmgw-slurm-path 1";
struct Use {
    PathUse use;
    const char* name;
    const char* setting;
};
constexpr Use uses[] = {{PathUse::data, "data", "ENROOT_DATA_PATH"},
                        {PathUse::cache, "cache", "ENROOT_CACHE_PATH"},
                        {PathUse::runtime, "runtime", "ENROOT_RUNTIME_PATH"},
                        {PathUse::temp, "temp", "ENROOT_TEMP_PATH"},
                        {PathUse::shared, "shared", ""}};

const Use& words_of(PathUse use) {
    return *std::find_if(std::begin(uses), std::end(uses),
                         [use](const Use& each) { return each.use == use; });
}

// What each use asks for, beyond being written to.
struct Needs {
    bool local;        // many small files, locks, other machines' users with the same number
    bool programs;     // containers run from there
    bool user_xattrs;  // images have them (enroot create: unsquashfs -user-xattrs)
    bool layers;       // whiteouts, and marks of opaque directories (enroot-aufs2ovlfs)
    std::uint64_t bytes;
    std::uint64_t inodes;
};

Needs needs_of(PathUse use) {
    switch (use) {
        case PathUse::data:
            return {true, true, true, false, limits::container_space_bytes, limits::container_space_inodes};
        case PathUse::cache:
            return {false, false, false, false, limits::container_space_bytes, 0};
        case PathUse::runtime:
            return {true, false, false, false, limits::runtime_space_bytes, limits::runtime_space_inodes};
        case PathUse::temp:
            return {true, false, false, true, limits::container_space_bytes, limits::container_space_inodes};
        case PathUse::shared:
            break;
    }
    return {};
}

std::string in_mib(std::uint64_t bytes) {
    return std::to_string(bytes / (1024 * 1024)) + " MiB";
}

std::optional<std::string> broken_property(const PathFinding& finding, const Needs& needs) {
    const std::string on = "is on " + (finding.type.empty() ? "a file system" : finding.type);
    if (finding.read_only) return on + " that is mounted read-only";
    if (needs.local && finding.network) return on + ", which is no local file system";
    if (needs.programs && finding.noexec)
        return on + " that is mounted noexec, so that nothing in a container could run";
    if (needs.layers && !finding.whiteouts)
        return on + ", which can't hold whiteouts (mknod c 0 0), as images' layers need them";
    if (needs.layers && !finding.trusted_xattrs && !finding.user_xattrs) {
        return on + ", which has neither trusted nor user extended attributes, as images' layers need them";
    }
    if (needs.user_xattrs && !finding.user_xattrs)
        return on + ", which has no user extended attributes, as images need them";
    if (finding.free_bytes < needs.bytes) {
        return on + " with " + in_mib(finding.free_bytes) + " free, at least " + in_mib(needs.bytes) +
               " are needed";
    }
    if (finding.free_inodes && *finding.free_inodes < needs.inodes) {
        return on + " with " + std::to_string(*finding.free_inodes) + " free inodes, at least " +
               std::to_string(needs.inodes) + " are needed";
    }
    return std::nullopt;
}

struct Flag {
    const char* name;
    bool PathFinding::*member;
};
constexpr Flag flags[] = {{"network", &PathFinding::network},
                          {"readonly", &PathFinding::read_only},
                          {"noexec", &PathFinding::noexec},
                          {"userxattrs", &PathFinding::user_xattrs},
                          {"trustedxattrs", &PathFinding::trusted_xattrs},
                          {"whiteouts", &PathFinding::whiteouts}};

struct Word {
    const char* name;
    std::string PathFinding::*member;
};
constexpr Word words[] = {{"path", &PathFinding::path},
                          {"probed", &PathFinding::probed},
                          {"type", &PathFinding::type},
                          {"failure", &PathFinding::failure}};

std::uint64_t number_in(const std::string& text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

std::string_view text_of(PathUse use) {
    return words_of(use).name;
}

std::string_view setting_of(PathUse use) {
    return words_of(use).setting;
}

std::optional<std::string> unfit(const PathFinding& finding) {
    const std::string path = printable(finding.path, limits::shared_path_bytes);
    const std::string failure = printable(finding.failure, limits::message_bytes);
    if (finding.use == PathUse::shared) {
        if (failure.empty()) return std::nullopt;
        return "the shared path " + path + " can't be mounted into containers: " + failure +
               "; mount it on this machine";
    }
    const std::string remedy = "; set " + std::string(setting_of(finding.use)) +
                               " in /etc/enroot/enroot.conf to a place on a local disk, or mount one there";
    if (!failure.empty()) return path + " can't be used: " + failure + remedy;
    const std::optional<std::string> property = broken_property(finding, needs_of(finding.use));
    if (!property) return std::nullopt;
    return path + " " + *property + remedy;
}

std::vector<PathNeed> path_needs(const EnrootLayout& layout, const std::string& shared_path) {
    const std::vector<EnrootSetting> ours = enroot_defaults();
    std::vector<PathNeed> needs;
    for (const Use& use : uses) {
        const std::string key = use.setting;
        const auto theirs = layout.set_by_others.find(key);
        const auto mine = std::find_if(ours.begin(), ours.end(),
                                       [&](const EnrootSetting& each) { return each.key == key; });
        const std::string value = theirs != layout.set_by_others.end() ? theirs->second.value
                                  : mine != ours.end()                 ? mine->value
                                                                       : "";
        if (std::optional<std::string> path = fixed_part(value)) needs.push_back({use.use, *path});
    }
    if (!shared_path.empty()) needs.push_back({PathUse::shared, shared_path});
    return needs;
}

std::string state_text_of(const PathFinding& finding) {
    StateFields fields{{"use", std::string(text_of(finding.use))}};
    for (const Word& word : words) fields.emplace_back(word.name, finding.*word.member);
    for (const Flag& flag : flags) fields.emplace_back(flag.name, finding.*flag.member ? "yes" : "no");
    fields.emplace_back("bytes", std::to_string(finding.free_bytes));
    if (finding.free_inodes) fields.emplace_back("inodes", std::to_string(*finding.free_inodes));
    return format_state_text(header, fields);
}

Result<PathFinding> path_finding_from(std::string_view text) {
    const Result<StateFields> fields = parse_state_text(text, header);
    if (!fields) return fields.error();
    PathFinding finding;
    for (const auto& [key, value] : fields.value()) {
        for (const Use& use : uses) {
            if (key == "use" && value == use.name) finding.use = use.use;
        }
        for (const Word& word : words) {
            if (key == word.name && value != "-") finding.*word.member = value;
        }
        for (const Flag& flag : flags) {
            if (key == flag.name) finding.*flag.member = value == "yes";
        }
        if (key == "bytes") finding.free_bytes = number_in(value);
        if (key == "inodes") finding.free_inodes = number_in(value);
    }
    return finding;
}

}  // namespace llmgw
