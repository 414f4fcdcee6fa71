#include "core/plugstack_edit.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/edit_order.hpp"
#include "core/glob_match.hpp"
#include "core/marked_block.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

// Names to try in an included directory, for patterns that want a suffix or a number. Those for the guard
// sort in front of what others are called, those for verify behind.
constexpr const char* names_for_all[] = {"llmgw.conf", "50-llmgw.conf", "llmgw"};
constexpr const char* names_in_front[] = {"00-llmgw.conf", "00-llmgw"};
constexpr const char* names_behind[] = {"zz-llmgw.conf", "99-llmgw.conf", "zz-llmgw"};

std::string in_directory(const std::string& directory, const std::string& name) {
    return directory + (directory.ends_with('/') ? "" : "/") + name;
}

// Lines of ours that belong together, and where they may go.
struct Group {
    std::string lines;
    std::vector<std::string> names;
    BlockPlace place = BlockPlace::end;
};

// The site's files, what is in them, and what we may do to them.
struct Ground {
    const StackSite& site;
    PlugstackTree tree;               // without ours
    ResolvedStack resolved;           // of that
    std::optional<PlacedLine> pyxis;  // the site's own
};

Error conflict(const PlacedLine& placed, const std::string& what) {
    return {Code::conflict, placed.place() + " " + what};
}

bool is_pyxis(const StackSite& site, const PlacedLine& placed) {
    return part_of(placed.line) == StackPart::pyxis || site.aliases.contains(placed.line.path);
}

// The site's own lines, where they leave us no way to make the stack safe.
Result<void> look_at_site(Ground& ground) {
    for (const PlacedLine& placed : ground.resolved.lines) {
        const bool pyxis = is_pyxis(ground.site, placed);
        if (placed.line.required && (pyxis || part_of(placed.line) != StackPart::other)) {
            return conflict(
                placed, "loads " + shown(placed.line.path) +
                            " as required, which fails every job while it is missing; write optional there");
        }
        if (!pyxis) continue;
        if (part_of(placed.line) != StackPart::pyxis) {
            return conflict(placed, "loads pyxis as " + shown(placed.line.path) +
                                        ", by which the guard doesn't know it; call the file spank_pyxis.so");
        }
        if (ground.pyxis) {
            return conflict(placed,
                            "loads pyxis, as " + ground.pyxis->place() + " does already; remove one of them");
        }
        ground.pyxis = placed;
    }
    return {};
}

Result<Ground> ground_of(const StackSite& site) {
    Result<PlugstackTree> tree = without_ours(site.tree, !site.main_locked.empty());
    if (!tree) return tree.error();
    Ground ground{site, std::move(tree).value(), {}, {}};
    Result<ResolvedStack> resolved = resolve_stack(ground.tree);
    if (!resolved) return resolved.error();
    ground.resolved = std::move(resolved).value();
    if (Result<void> done = look_at_site(ground); !done) return done.error();
    return ground;
}

bool has_part(const Ground& ground, StackPart part) {
    return std::any_of(ground.resolved.lines.begin(), ground.resolved.lines.end(),
                       [part](const PlacedLine& placed) { return part_of(placed.line) == part; });
}

using Trees = std::vector<PlugstackTree>;

// In an included directory. The name must be free: a file there is the site's.
void add_dropins(const Ground& ground, const PlugstackTree& tree, const Group& group, Trees& trees) {
    for (const PlacedInclude& include : ground.resolved.includes) {
        const std::string directory = directory_of(include.pattern);
        if (include.file != tree.main || !ground.site.directories.contains(directory)) continue;
        for (const std::string& name : group.names) {
            const std::string path = in_directory(directory, name);
            if (!has_wildcard(include.pattern) || !glob_matches(include.pattern, path)) continue;
            if (tree.files.contains(path)) continue;
            PlugstackTree with = tree;
            with.files[path] = our_first_line(stack_purpose) + group.lines;
            trees.push_back(std::move(with));
        }
    }
}

// In the main file, or one of our own in its place.
void add_block(const Ground& ground, const PlugstackTree& tree, const Group& group, Trees& trees) {
    if (!ground.site.main_locked.empty()) return;
    PlugstackTree with = tree;
    std::string lines = group.lines;
    if (ground.site.published) {
        const std::string directory = in_directory(directory_of(tree.main), "plugstack.conf.d");
        const std::string path = in_directory(directory, group.names.front());
        if (tree.files.contains(path) || ground.site.unfit_directories.contains(directory)) return;
        with.files[path] = our_first_line(stack_purpose) + lines;
        std::string pattern = path;
        lines = "include " + pattern.insert(pattern.rfind(".conf"), "*") + "\n";
    }
    const auto main = tree.files.find(tree.main);
    std::optional<std::string> text;
    if (main != tree.files.end()) text = main->second;
    with.files[tree.main] = with_block(text, group.place, stack_purpose, lines);
    trees.push_back(std::move(with));
}

Trees with_group(const Ground& ground, const Trees& trees, const Group& group) {
    Trees all;
    for (const PlugstackTree& tree : trees) {
        add_dropins(ground, tree, group, all);
        add_block(ground, tree, group, all);
    }
    return all;
}

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Safe, and with our lines where Slurm reads them once.
bool will_do(const Ground& ground, const PlugstackTree& tree, std::size_t our_lines) {
    const Result<ResolvedStack> resolved = resolve_stack(tree);
    return resolved && resolved.value().lines.size() == ground.resolved.lines.size() + our_lines &&
           !unsafe_stack(resolved.value().stack());
}

std::vector<Group> groups_of(const Ground& ground, const StackLines& lines, bool with_pyxis) {
    const std::string options = has_part(ground, StackPart::options) ? "" : lines.options;
    if (!ground.pyxis) {
        const std::string pyxis = with_pyxis ? lines.pyxis : "";
        return {{lines.guard + options + pyxis + lines.verify,
                 {std::begin(names_for_all), std::end(names_for_all)},
                 BlockPlace::end}};
    }
    return {{lines.guard + options, {std::begin(names_in_front), std::end(names_in_front)}, BlockPlace::head},
            {lines.verify, {std::begin(names_behind), std::end(names_behind)}, BlockPlace::end}};
}

Error no_place(const Ground& ground) {
    const std::string& main = ground.tree.main;
    std::string message = !ground.pyxis ? "llmgw-slurm's lines have no place in " + main
                                        : ground.pyxis->place() +
                                              " loads pyxis, and the guard can't be put around it in " + main;
    if (!ground.site.main_locked.empty()) message += ", which " + ground.site.main_locked;
    for (const auto& [directory, reason] : ground.site.unfit_directories)
        message += "; " + directory + " " + reason;
    message += "; put the line \"include /etc/slurm/plugstack.conf.d/*.conf\"";
    message +=
        !ground.pyxis ? " there" : " there instead of pyxis's, and that one into a file of that directory";
    return {Code::denied, message};
}

// The files as they should be.
Result<PlugstackTree> wanted_tree(const Ground& ground, const StackLines& lines, bool with_pyxis) {
    const bool has_all = (ground.pyxis || !with_pyxis) && has_part(ground, StackPart::options) &&
                         has_part(ground, StackPart::verify) && !unsafe_stack(ground.resolved.stack());
    if (has_all) return ground.tree;
    Trees trees{ground.tree};
    std::size_t our_lines = 0;
    for (const Group& group : groups_of(ground, lines, with_pyxis)) {
        trees = with_group(ground, trees, group);
        our_lines += lines_in(group.lines);
    }
    const auto found = std::find_if(trees.begin(), trees.end(), [&](const PlugstackTree& tree) {
        return will_do(ground, tree, our_lines);
    });
    if (found == trees.end()) return no_place(ground);
    return *found;
}

bool is_locked(const StackSite& site) {
    return !site.main_locked.empty();
}

Result<FileEdits> edits_to(const StackSite& site, const PlugstackTree& wanted) {
    Result<FileEdits> edits =
        safe_edits(site.tree, wanted, without_our_lines(wanted, is_locked(site), StackPart::pyxis));
    if (!edits) return edits;
    for (FileEdit& edit : edits.value()) edit.make_directory = edit.after && edit.path != site.tree.main;
    return edits;
}

}  // namespace

Result<FileEdits> stack_edits(const StackSite& site, const StackLibraries& libraries, bool with_pyxis) {
    const Result<StackLines> lines = stack_lines(libraries);
    if (!lines) return lines.error();
    const Result<Ground> ground = ground_of(site);
    if (!ground) return ground.error();
    const Result<PlugstackTree> wanted = wanted_tree(ground.value(), lines.value(), with_pyxis);
    if (!wanted) return wanted.error();
    return edits_to(site, wanted.value());
}

Result<FileEdits> without_us(const StackSite& site) {
    const Result<PlugstackTree> rest = without_ours(site.tree, is_locked(site));
    if (!rest) return rest.error();
    return edits_to(site, rest.value());
}

Result<FileEdits> without_pyxis(const StackSite& site) {
    return edits_to(site, without_our_lines(site.tree, is_locked(site), StackPart::pyxis));
}

Result<std::string> site_pyxis(const StackSite& site) {
    const Result<Ground> ground = ground_of(site);
    if (!ground) return ground.error();
    return !ground.value().pyxis ? std::string() : ground.value().pyxis->place();
}

}  // namespace llmgw
