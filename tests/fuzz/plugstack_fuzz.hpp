// Attack surface: plugstack.conf. Only root writes it, but packages, sites and other software do, and what is
// made of it decides whether a machine counts as safe for containers: a stack that Slurm would read otherwise
// than we do must not pass for safe. Whatever the bytes are, a line must be read as Slurm reads it, and a
// stack that is called safe must have the guard in front of pyxis and behind it. The corpus runs as an
// ordinary test too (tests/unit/core/plugstack_corpus_test.cpp).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/plugstack.hpp"
#include "core/text.hpp"
#include "fuzz/promise.hpp"

namespace llmgw::fuzz {

inline bool is_word(const std::string& text) {
    return !text.empty() && text.find_first_of(" \t\n#") == std::string::npos;
}

inline void plugstack_line(const PlugstackLine& line) {
    using Kind = PlugstackLine::Kind;
    if (line.kind != Kind::plugin && line.kind != Kind::include) {
        must(line.path.empty() && line.arguments.empty() && !line.required);
        return;
    }
    must(is_word(line.path) && std::all_of(line.arguments.begin(), line.arguments.end(), is_word));
    std::string again = line.kind == Kind::include ? "include" : line.required ? "required" : "optional";
    again += "\t" + line.path;
    for (const std::string& argument : line.arguments) again += "  " + argument;
    must(parse_plugstack_line(again + " # and so on") == line);
}

inline bool named(const PlugstackLine& line, std::string_view file) {
    return line.path == file || line.path.ends_with("/" + std::string(file));
}

inline void plugstack(std::string_view text) {
    Plugstack stack;
    for (const std::string_view piece : split(text, '\n')) {
        PlugstackLine line = parse_plugstack_line(piece);
        plugstack_line(line);
        if (line.kind == PlugstackLine::Kind::plugin) stack.push_back(std::move(line));
    }
    const auto is_pyxis = [](const PlugstackLine& line) { return named(line, "spank_pyxis.so"); };
    const auto is_guard = [](const PlugstackLine& line) { return named(line, "spank_llmgw.so"); };
    const auto pyxis = std::find_if(stack.begin(), stack.end(), is_pyxis);
    const std::optional<std::string> path = pyxis_in(stack);
    must(path.has_value() == (pyxis != stack.end()) && (!path || *path == pyxis->path));
    if (!path || unsafe_stack(stack)) return;
    must(std::count_if(stack.begin(), stack.end(), is_pyxis) == 1);
    must(std::any_of(stack.begin(), pyxis, is_guard) && std::any_of(pyxis, stack.end(), is_guard));
    must(std::none_of(stack.begin(), stack.end(), [&](const PlugstackLine& line) {
        return line.required && (is_pyxis(line) || is_guard(line));
    }));
}

}  // namespace llmgw::fuzz
