// From one tree of a stack's files to another, one file after the other, so that Slurm, which may read them
// at any moment, finds no state in between that is worse than both ends.
#pragma once

#include "core/file_edit.hpp"
#include "core/plugstack_tree.hpp"
#include "core/result.hpp"

namespace llmgw {

// How far a stack is from keeping container jobs off the host.
enum class StackDanger {
    none,       // guard in front of pyxis, if there is one, and verify behind it
    closed,     // the guard refuses containers (no verify), or there is neither pyxis nor guard
    open,       // pyxis without the guard in front of it, or twice
    unreadable  // too many lines or includes
};
StackDanger danger_of(const PlugstackTree& tree);

// `to` without pyxis's line of ours is what is written first where both have one, in different files.
// Error (internal): there is no such order.
Result<FileEdits> safe_edits(const PlugstackTree& from, const PlugstackTree& to,
                             const PlugstackTree& to_without_pyxis);

}  // namespace llmgw
