// Lines of ours inside a file of somebody else's, between two lines that say so, so that they can be found,
// changed and taken out again with the file's other bytes as they were.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct Unmarked {
    // Without our blocks; nothing: the file was made for them and has nothing else.
    std::optional<std::string> rest;
    std::vector<std::string> blocks;  // what is in each of them, without the lines that mark it

    bool operator==(const Unmarked&) const = default;
};

enum class BlockPlace { head, end };

// `text` nothing: there is no such file. `purpose` is for the line that begins the block; `lines` end with a
// newline. A file whose last line has no end gets one, and unmark() takes it away again.
std::string with_block(const std::optional<std::string>& text, BlockPlace place, std::string_view purpose,
                       std::string_view lines);

// Error (conflict): a block that begins and doesn't end, or the other way round; names the line.
Result<Unmarked> unmark(std::string_view text);

// The first line of files that are ours as a whole: "# llmgw-slurm: PURPOSE; written by llmgw-slurm-helper".
std::string our_first_line(std::string_view purpose);
// A file that begins so; a script may have its "#!" line before it.
bool is_ours(std::string_view text);

// The text without those lines of ours (in blocks, or anywhere if the file is ours) that `drop` picks.
std::string without_marked_lines(std::string_view text,
                                 const std::function<bool(std::string_view line)>& drop);

}  // namespace llmgw
