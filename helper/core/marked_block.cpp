#include "core/marked_block.hpp"

namespace llmgw {
namespace {

constexpr std::string_view begin_mark = "# llmgw-slurm begin";
constexpr std::string_view end_mark = "# llmgw-slurm end";
constexpr std::string_view file_made = " [file made]";
constexpr std::string_view newline_added = " [newline added]";
constexpr std::string_view file_mark = "# llmgw-slurm: ";

std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    text.remove_prefix(line.size());
    return line;
}

std::string_view without_end(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

Error half_a_block(std::size_t line, std::string_view has, std::string_view lacks) {
    return {Code::conflict, "line " + std::to_string(line) + " is \"" + std::string(has) +
                                "\" without its \"" + std::string(lacks) +
                                "\"; remove what is left of these lines by hand"};
}

}  // namespace

std::string with_block(const std::optional<std::string>& text, BlockPlace place, std::string_view purpose,
                       std::string_view lines) {
    const bool unended = text && !text->empty() && !text->ends_with('\n') && place == BlockPlace::end;
    std::string block(begin_mark);
    block += ": ";
    block += purpose;
    block += "; written by llmgw-slurm-helper, don't edit up to \"llmgw-slurm end\"";
    if (!text) block += file_made;
    if (unended) block += newline_added;
    block += '\n';
    block += lines;
    block += end_mark;
    block += '\n';
    if (!text) return block;
    return place == BlockPlace::head ? block + *text : *text + (unended ? "\n" : "") + block;
}

Result<Unmarked> unmark(std::string_view text) {
    Unmarked unmarked{"", {}};
    std::string& rest = *unmarked.rest;
    bool inside = false;
    bool made = false;
    bool added = false;
    std::size_t number = 0;
    std::size_t began = 0;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::string_view words = without_end(line);
        ++number;
        if (words.starts_with(begin_mark)) {
            if (inside) return half_a_block(began, begin_mark, end_mark);
            inside = true;
            began = number;
            made = made || words.ends_with(file_made);
            added = words.ends_with(newline_added);
            unmarked.blocks.emplace_back();
        } else if (words == end_mark) {
            if (!inside) return half_a_block(number, end_mark, begin_mark);
            inside = false;
            // Not where somebody has written something behind it: that would be joined to the line before it.
            if (added && text.empty() && rest.ends_with('\n')) rest.pop_back();
        } else if (inside) {
            unmarked.blocks.back() += line;
        } else {
            rest += line;
        }
    }
    if (inside) return half_a_block(began, begin_mark, end_mark);
    if (made && rest.empty()) unmarked.rest.reset();
    return unmarked;
}

std::string our_first_line(std::string_view purpose) {
    return std::string(file_mark) + std::string(purpose) + "; written by llmgw-slurm-helper\n";
}

bool is_ours(std::string_view text) {
    if (text.starts_with("#!")) take_line(text);
    return text.starts_with(file_mark);
}

std::string without_marked_lines(std::string_view text,
                                 const std::function<bool(std::string_view line)>& drop) {
    const bool whole = is_ours(text);
    bool inside = whole;
    std::string kept;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::string_view words = without_end(line);
        if (!whole && words.starts_with(begin_mark)) inside = true;
        if (!whole && words == end_mark) inside = false;
        if (!inside || !drop(words)) kept += line;
    }
    return kept;
}

}  // namespace llmgw
