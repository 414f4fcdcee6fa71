// Slurm's plugstack.conf (22.05 plugstack.c, 24.11 and 26.05 spank.c): lines "required|optional PATH [ARGS]"
// and "include GLOB", '#' begins a comment, other lines are ignored by Slurm with an error in its log. Words
// are between blanks and tabs: the carriage return of a line from another system is part of the last one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

struct PlugstackLine {
    enum class Kind { nothing, plugin, include, unknown };
    Kind kind = Kind::nothing;
    bool required = false;
    std::string path;  // of the plugin, or the pattern of an include
    std::vector<std::string> arguments;

    bool operator==(const PlugstackLine&) const = default;
};

PlugstackLine parse_plugstack_line(std::string_view line);

// What a line of the stack is to us, by its file name.
enum class StackPart { other, guard, verify, options, pyxis };
StackPart part_of(const PlugstackLine& line);

// The whole stack in the order in which Slurm loads it, includes followed.
using Plugstack = std::vector<PlugstackLine>;

// The path of pyxis's library as the stack says it; nothing without such a line. Known by its file name.
std::optional<std::string> pyxis_in(const Plugstack& stack);

// What keeps this stack from being safe: no guard in front of pyxis, none behind it to verify, pyxis named
// twice, one of these lines `required`. Nothing when all is well.
std::optional<std::string> unsafe_stack(const Plugstack& stack);

}  // namespace llmgw
