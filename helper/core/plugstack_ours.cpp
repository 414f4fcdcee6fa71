#include "core/plugstack_ours.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/marked_block.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view usual_run_dir = "/run/llmgw-slurm";

bool is_one_word(const std::string& path) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+:@%,=~-";
    return path.starts_with('/') && path.find_first_not_of(plain) == std::string::npos;
}

// Plugins of ours, comments, and the include that leads to a file of ours.
bool may_be_ours(std::string_view text) {
    const PlugstackLine line = parse_plugstack_line(text);
    switch (line.kind) {
        case PlugstackLine::Kind::nothing:
            return true;
        case PlugstackLine::Kind::plugin:
            return part_of(line) != StackPart::other;
        case PlugstackLine::Kind::include:
            return line.path.find("/plugstack.conf.d/") != std::string::npos &&
                   line.path.ends_with("llmgw*.conf");
        case PlugstackLine::Kind::unknown:
            break;
    }
    return false;
}

Result<void> all_ours(std::string_view lines, const std::string& path) {
    for (const std::string_view line : split(lines, '\n')) {
        if (may_be_ours(line)) continue;
        return Error{Code::conflict,
                     path + " has the line " + shown(line) +
                         " among those of llmgw-slurm, which rewrites and removes them; move it "
                         "out, into a file of your own or in front of them"};
    }
    return {};
}

// The file without ours; nothing: it goes.
Result<std::optional<std::string>> bare(const std::string& path, const std::string& text) {
    if (is_ours(text)) {
        if (Result<void> done = all_ours(text, path); !done) return done.error();
        return std::optional<std::string>();
    }
    Result<Unmarked> unmarked = unmark(text);
    if (!unmarked) return unmarked.error().within(path);
    for (const std::string& block : unmarked.value().blocks) {
        if (Result<void> done = all_ours(block, path); !done) return done.error();
    }
    return std::move(unmarked).value().rest;
}

}  // namespace

Result<StackLines> stack_lines(const StackLibraries& libraries) {
    const bool usual = libraries.run_dir.empty() || libraries.run_dir == usual_run_dir;
    for (const std::string& path : {libraries.guard, libraries.options, libraries.pyxis, libraries.run_dir}) {
        if (!is_one_word(path) && !(usual && path == libraries.run_dir)) {
            return Error{Code::invalid, shown(path) + " can't be written into plugstack.conf as a path"};
        }
    }
    const std::string run_dir = usual ? "" : " run_dir=" + libraries.run_dir;
    return StackLines{"optional " + libraries.guard + run_dir + "\n", "optional " + libraries.options + "\n",
                      "optional " + libraries.pyxis + "\n",
                      "optional " + libraries.guard + " verify" + run_dir + "\n"};
}

Result<PlugstackTree> without_ours(const PlugstackTree& tree, bool main_locked) {
    PlugstackTree rest{tree.main, {}};
    for (const auto& [path, text] : tree.files) {
        if (main_locked && path == tree.main) {
            rest.files.emplace(path, text);
            continue;
        }
        Result<std::optional<std::string>> without = bare(path, text);
        if (!without) return without.error();
        if (without.value()) rest.files.emplace(path, *std::move(without).value());
    }
    return rest;
}

PlugstackTree without_our_lines(const PlugstackTree& tree, bool main_locked, StackPart drop) {
    PlugstackTree changed = tree;
    for (auto& [path, text] : changed.files) {
        if (main_locked && path == tree.main) continue;
        text = without_marked_lines(
            text, [drop](std::string_view line) { return part_of(parse_plugstack_line(line)) == drop; });
    }
    return changed;
}

}  // namespace llmgw
