// Our lines in the files of a stack: what they say, and the same files without them.
#pragma once

#include <string>
#include <string_view>

#include "core/plugstack_tree.hpp"
#include "core/result.hpp"

namespace llmgw {

struct StackLibraries {
    std::string guard;    // spank_llmgw.so
    std::string options;  // spank_llmgw_options.so
    std::string pyxis;    // spank_pyxis.so
    std::string run_dir;  // the guard's; "" or the usual one: not written

    bool operator==(const StackLibraries&) const = default;
};

struct StackLines {
    std::string guard;
    std::string options;
    std::string pyxis;
    std::string verify;
};

// Each with its end. Error (invalid): a path that is not absolute, or that Slurm would not read as one word.
Result<StackLines> stack_lines(const StackLibraries& libraries);

// What the first line of a file, or of a block, of ours says that it is for.
inline constexpr std::string_view stack_purpose =
    "containers in Slurm jobs: guard in front, pyxis, guard again to verify";

// The tree without our files and blocks. `main_locked`: nothing in the main file is ours, whatever it says
// (it comes from the controller). Errors (conflict), with file and line: somebody wrote lines of theirs among
// ours, or cut a block in half.
Result<PlugstackTree> without_ours(const PlugstackTree& tree, bool main_locked);

// The tree without those of our own lines that `drop` picks.
PlugstackTree without_our_lines(const PlugstackTree& tree, bool main_locked, StackPart drop);

}  // namespace llmgw
