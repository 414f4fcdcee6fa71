#include "core/plugstack.hpp"

#include <algorithm>
#include <cstddef>

namespace llmgw {
namespace {

std::vector<std::string> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t";
    std::vector<std::string> words;
    // Slurm's own string ends at a zero byte.
    line = line.substr(0, line.find_first_of(std::string_view("#\0", 2)));
    while (true) {
        const std::size_t begin = line.find_first_not_of(blanks);
        if (begin == std::string_view::npos) return words;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(blanks), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool verifies(const PlugstackLine& line) {
    return std::find(line.arguments.begin(), line.arguments.end(), "verify") != line.arguments.end();
}

template <StackPart part>
bool is(const PlugstackLine& line) {
    return part_of(line) == part;
}

}  // namespace

PlugstackLine parse_plugstack_line(std::string_view line) {
    std::vector<std::string> words = words_of(line);
    if (words.empty()) return {};
    PlugstackLine parsed{PlugstackLine::Kind::unknown, false, {}, {}};
    if (words.size() < 2) return parsed;
    if (words[0] == "include") {
        parsed.kind = PlugstackLine::Kind::include;
    } else if (words[0] == "required" || words[0] == "optional") {
        parsed.kind = PlugstackLine::Kind::plugin;
        parsed.required = words[0] == "required";
    } else {
        return parsed;
    }
    parsed.path = std::move(words[1]);
    parsed.arguments.assign(words.begin() + 2, words.end());
    return parsed;
}

StackPart part_of(const PlugstackLine& line) {
    const std::string_view name = file_name(line.path);
    if (line.kind != PlugstackLine::Kind::plugin) return StackPart::other;
    if (name == "spank_llmgw.so") return verifies(line) ? StackPart::verify : StackPart::guard;
    if (name == "spank_llmgw_options.so") return StackPart::options;
    return name == "spank_pyxis.so" ? StackPart::pyxis : StackPart::other;
}

std::optional<std::string> pyxis_in(const Plugstack& stack) {
    const auto found = std::find_if(stack.begin(), stack.end(), is<StackPart::pyxis>);
    if (found == stack.end()) return std::nullopt;
    return found->path;
}

std::optional<std::string> unsafe_stack(const Plugstack& stack) {
    const auto required = std::find_if(stack.begin(), stack.end(), [](const PlugstackLine& line) {
        return line.required && part_of(line) != StackPart::other;
    });
    if (required != stack.end()) {
        return "plugstack.conf has " + std::string(file_name(required->path)) +
               " as required, which fails every job when it is missing";
    }
    const auto pyxis = std::find_if(stack.begin(), stack.end(), is<StackPart::pyxis>);
    if (std::count_if(stack.begin(), stack.end(), is<StackPart::pyxis>) > 1)
        return "plugstack.conf loads pyxis twice";
    const auto guard = std::find_if(stack.begin(), stack.end(), is<StackPart::guard>);
    if (guard == stack.end()) return "plugstack.conf has no line \"optional spank_llmgw.so\"";
    if (pyxis == stack.end()) return std::nullopt;
    if (guard > pyxis) return "plugstack.conf has spank_llmgw.so behind pyxis, not in front of it";
    if (std::find_if(pyxis, stack.end(), is<StackPart::verify>) == stack.end()) {
        return "plugstack.conf has no line \"optional spank_llmgw.so verify\" behind pyxis's";
    }
    return std::nullopt;
}

}  // namespace llmgw
