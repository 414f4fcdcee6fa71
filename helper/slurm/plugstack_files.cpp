#include "slurm/plugstack_files.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/glob_match.hpp"
#include "core/limits.hpp"
#include "core/marked_block.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/path_probe.hpp"

namespace llmgw::slurm {
namespace {

// Files of ours that nothing includes any more are looked for here, too.
constexpr const char* usual_dropins = "plugstack.conf.d/*llmgw*";

constexpr const char* not_there = "is not there";

struct Matches {
    glob_t list{};
    Matches() = default;
    Matches(const Matches&) = delete;
    Matches& operator=(const Matches&) = delete;
    ~Matches() { ::globfree(&list); }
};

std::vector<std::string> glob_for(const std::string& pattern) {
    Matches matches;
    if (::glob(pattern.c_str(), 0, nullptr, &matches.list) != 0) return {};
    std::vector<std::string> paths(matches.list.gl_pathv, matches.list.gl_pathv + matches.list.gl_pathc);
    std::sort(paths.begin(), paths.end());
    return paths;
}

class DiskSource final : public StackSource {
  public:
    Result<std::optional<std::string>> text(const std::string& path) override {
        note_directory(directory_of(path));
        Result<std::string> text = read_file(path, limits::edited_file_bytes);
        if (!text && text.error().code == Code::missing) return std::optional<std::string>();
        if (!text) return text.error();
        texts_[path] = text.value();
        return std::optional<std::string>(std::move(text).value());
    }

    std::vector<std::string> matches(const std::string& pattern) override {
        note_directory(directory_of(pattern));
        return glob_for(pattern);
    }

    PlugstackFiles take(ResolvedStack resolved, const std::string& main) {
        return {resolved.stack(), std::move(directories_), std::move(resolved), {main, std::move(texts_)}};
    }

  private:
    void note_directory(const std::string& directory) {
        if (std::find(directories_.begin(), directories_.end(), directory) == directories_.end()) {
            directories_.push_back(directory);
        }
    }

    std::map<std::string, std::string> texts_;
    std::vector<std::string> directories_;
};

std::string not_local(const std::string& path) {
    const FileSystemKind kind = file_system_of(path);
    return kind.network ? "is on " + kind.name + ", which other machines may use, too" : "";
}

// Why the main file can't be edited, "" if it can.
std::string lock_of(const StackPlace& place) {
    if (place.from_controller)
        return "comes from the controller, whose own is the one to edit before \"scontrol reconfigure\"";
    struct stat status {};
    if (::lstat(place.path.c_str(), &status) != 0) return not_local(directory_of(place.path));
    if (S_ISLNK(status.st_mode)) {
        std::array<char, 4096> target{};
        const ssize_t size = ::readlink(place.path.c_str(), target.data(), target.size());
        return "is a symbolic link to " +
               shown(std::string_view(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0));
    }
    return not_local(place.path);
}

// Why no file of ours can be in a directory, "" if it can.
std::string unfit_directory(const std::string& directory, const std::string& main) {
    struct stat status {};
    struct stat home {};
    if (::lstat(directory.c_str(), &status) != 0) {
        const bool can_be_made = ::stat(directory_of(directory).c_str(), &home) == 0;
        return can_be_made ? "" : not_there;
    }
    if (S_ISLNK(status.st_mode)) return "is a symbolic link";
    if (!S_ISDIR(status.st_mode)) return "is not a directory";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others than its owner";
    // Some sites give all of /etc/slurm to SlurmUser.
    const bool slurms = ::stat(directory_of(main).c_str(), &home) == 0 && home.st_uid == status.st_uid;
    if (status.st_uid != 0 && status.st_uid != ::geteuid() && !slurms) return "does not belong to root";
    return not_local(directory);
}

bool same_file(const std::string& one, const std::string& other) {
    struct stat first {};
    struct stat second {};
    return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool leads_to_pyxis(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    return real != nullptr && std::string(real.get()).ends_with("/spank_pyxis.so");
}

// Plugins that are pyxis's file by another name: a link to it, or the same inode as one that is called so.
void find_aliases(const ResolvedStack& resolved, const std::string& our_pyxis, StackSite& site) {
    std::vector<std::string> known{our_pyxis};
    for (const PlacedLine& placed : resolved.lines) {
        if (part_of(placed.line) == StackPart::pyxis) known.push_back(placed.line.path);
    }
    for (const PlacedLine& placed : resolved.lines) {
        const std::string& path = placed.line.path;
        if (part_of(placed.line) != StackPart::other || !path.starts_with('/')) continue;
        const bool same = std::any_of(known.begin(), known.end(),
                                      [&path](const std::string& each) { return same_file(path, each); });
        if (same || leads_to_pyxis(path)) site.aliases.insert(path);
    }
}

}  // namespace

Result<PlugstackFiles> read_plugstack(const std::string& path) {
    DiskSource source;
    Result<ResolvedStack> resolved = resolve_stack(path, source);
    if (!resolved) return resolved.error();
    return source.take(std::move(resolved).value(), path);
}

Result<StackSite> read_stack_site(const StackPlace& place, const StackLibraries& libraries) {
    Result<PlugstackFiles> files = read_plugstack(place.path);
    if (!files) return files.error();
    StackSite site;
    site.tree = std::move(files).value().tree;
    site.main_locked = lock_of(place);
    site.published = place.published;
    find_aliases(files.value().resolved, libraries.pyxis, site);

    const std::string usual = directory_of(place.path) + "/" + usual_dropins;
    std::vector<std::string> directories{directory_of(usual)};
    for (const PlacedInclude& include : files.value().resolved.includes) {
        if (has_wildcard(include.pattern)) directories.push_back(directory_of(include.pattern));
    }
    for (const std::string& directory : directories) {
        const std::string reason = unfit_directory(directory, place.path);
        if (reason.empty()) {
            site.directories.insert(directory);
        } else if (&directory != &directories.front() || reason != not_there) {
            site.unfit_directories.emplace(directory, reason);
        }
    }
    for (const std::string& path : glob_for(usual)) {
        const Result<std::string> text = read_file(path, limits::edited_file_bytes);
        if (text && is_ours(text.value())) site.tree.files.emplace(path, text.value());
    }
    return site;
}

}  // namespace llmgw::slurm
