#include "core/edit_order.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace llmgw {
namespace {

// Ours are two at most, and what an earlier version left: more are not put into every order.
constexpr std::size_t most_permuted = 5;

std::optional<std::string> text_in(const PlugstackTree& tree, const std::string& path) {
    const auto found = tree.files.find(path);
    if (found == tree.files.end()) return std::nullopt;
    return found->second;
}

void set_text(PlugstackTree& tree, const std::string& path, const std::optional<std::string>& text) {
    if (text) {
        tree.files[path] = *text;
    } else {
        tree.files.erase(path);
    }
}

FileEdit edit_of(const PlugstackTree& from, const PlugstackTree& to, const std::string& path) {
    FileEdit edit;
    edit.path = path;
    edit.before = text_in(from, path);
    edit.after = text_in(to, path);
    return edit;
}

std::vector<std::string> changed_paths(const PlugstackTree& from, const PlugstackTree& to) {
    std::set<std::string> paths;
    for (const PlugstackTree* tree : {&from, &to}) {
        for (const auto& [path, text] : tree->files) {
            if (text_in(from, path) != text_in(to, path)) paths.insert(path);
        }
    }
    return {paths.begin(), paths.end()};
}

// The dangers of all states on the way, worst first; so that less is better.
std::vector<StackDanger> dangers_on_the_way(PlugstackTree tree, const FileEdits& edits) {
    std::vector<StackDanger> dangers;
    for (const FileEdit& edit : edits) {
        set_text(tree, edit.path, edit.after);
        dangers.push_back(danger_of(tree));
    }
    std::sort(dangers.rbegin(), dangers.rend());
    return dangers;
}

struct Way {
    FileEdits edits;
    std::vector<StackDanger> dangers;
};

Way best_order(const PlugstackTree& from, const PlugstackTree& to) {
    std::vector<std::string> paths = changed_paths(from, to);
    Way best;
    bool first = true;
    do {
        Way way;
        for (const std::string& path : paths) way.edits.push_back(edit_of(from, to, path));
        way.dangers = dangers_on_the_way(from, way.edits);
        if (first || way.dangers < best.dangers) best = std::move(way);
        first = false;
    } while (paths.size() <= most_permuted && std::next_permutation(paths.begin(), paths.end()));
    return best;
}

// What comes is written without pyxis, then what goes is removed, then pyxis comes: a move from one file to
// another in which pyxis is never there twice and the guard always.
Way in_stages(const PlugstackTree& from, const PlugstackTree& to, const PlugstackTree& to_without_pyxis) {
    PlugstackTree now = from;
    Way way;
    const auto write = [&](const PlugstackTree& target, const std::string& path) {
        if (text_in(now, path) == text_in(target, path)) return;
        way.edits.push_back(edit_of(now, target, path));
        set_text(now, path, text_in(target, path));
    };
    std::vector<std::string> come;
    std::vector<std::string> go;
    for (const std::string& path : changed_paths(from, to)) {
        const bool has_ours = text_in(to_without_pyxis, path) != text_in(to, path);
        (has_ours ? come : go).push_back(path);
    }
    for (const std::string& path : come) write(to_without_pyxis, path);
    for (const std::string& path : go) write(to, path);
    for (const std::string& path : come) write(to, path);
    way.dangers = dangers_on_the_way(from, way.edits);
    return way;
}

}  // namespace

StackDanger danger_of(const PlugstackTree& tree) {
    const Result<ResolvedStack> resolved = resolve_stack(tree);
    if (!resolved) return StackDanger::unreadable;
    bool guarded = false;
    bool pyxis = false;
    bool verified = false;
    for (const PlacedLine& placed : resolved.value().lines) {
        const StackPart part = part_of(placed.line);
        if (part == StackPart::guard) guarded = true;
        if (part == StackPart::verify) verified = pyxis;
        if (part != StackPart::pyxis) continue;
        if (pyxis || !guarded) return StackDanger::open;
        pyxis = true;
    }
    if (!guarded || (pyxis && !verified)) return StackDanger::closed;
    return StackDanger::none;
}

Result<FileEdits> safe_edits(const PlugstackTree& from, const PlugstackTree& to,
                             const PlugstackTree& to_without_pyxis) {
    const StackDanger most = std::max(danger_of(from), danger_of(to));
    const auto holds = [most](const Way& way) { return way.dangers.empty() || way.dangers.front() <= most; };
    Way way = best_order(from, to);
    if (!holds(way)) way = in_stages(from, to, to_without_pyxis);
    if (!holds(way)) {
        return Error{Code::internal,
                     "the files of plugstack.conf can't be changed one after the other without a "
                     "moment in which containers are not guarded; take llmgw-slurm's lines out by hand"};
    }
    return std::move(way).edits;
}

}  // namespace llmgw
