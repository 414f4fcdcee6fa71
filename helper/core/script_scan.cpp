#include "core/script_scan.hpp"

#include <algorithm>
#include <cstring>

#include "core/limits.hpp"

namespace llmgw {
namespace {

constexpr std::string_view magic = "#SBATCH";
constexpr std::string_view any_option = "--container-";

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_continuation(std::string_view text, std::size_t at) {
    return text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '\n';
}

std::string_view take_line(std::string_view& text) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    return line;
}

// A line with those that a backslash at its end joins to it; `lines` is raised by how many they are.
std::string_view take_command_line(std::string_view& text, unsigned& lines) {
    const char* begin = text.data();
    std::string_view line = take_line(text);
    while (line.ends_with('\\') && !text.empty()) {
        line = take_line(text);
        ++lines;
    }
    return {begin, static_cast<std::size_t>(line.data() + line.size() - begin)};
}

// The next word of a line: blanks separate unless quoted, quotes around a word's beginning are left out, a
// word that begins with '#' ends the line. In commands ; & | ( ) and backquotes end a word and are words of
// their own.
std::string_view take_word(std::string_view& line, bool command) {
    const auto separates = [&](char c) {
        return command && (c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '`');
    };
    while (!line.empty() && (is_blank(line.front()) || is_continuation(line, 0))) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') {
        line = {};
        return {};
    }
    if (separates(line.front())) {
        const std::string_view word = line.substr(0, 1);
        line.remove_prefix(1);
        return word;
    }
    char quote = 0;
    std::size_t end = 0;
    for (; end < line.size(); ++end) {
        const char c = line[end];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (is_blank(c) || separates(c) || is_continuation(line, end)) {
            break;
        }
    }
    std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
    return word;
}

bool is_command_line(std::string_view line) {
    const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
    return first != line.end() && *first != '#';
}

// Short options of sbatch and srun without an argument (22.05 to 26.05); every other one takes the next word.
bool takes_next_word(std::string_view word) {
    constexpr std::string_view flags = "hHIkOQsuvVWlEKXZ";
    return word.size() == 2 && word[0] == '-' && word[1] != '-' &&
           flags.find(word[1]) == std::string_view::npos;
}

Request request_in_directive(std::string_view line) {
    std::string_view before;
    for (std::string_view word = take_word(line, false); !word.empty(); word = take_word(line, false)) {
        const Request request = takes_next_word(before) ? Request::none : request_in_option(word);
        if (request != Request::none) return request;
        before = word;
    }
    return Request::none;
}

bool starts_het_component(std::string_view line) {
    const std::string_view word = take_word(line, false);
    return word == "hetjob" || word == "packjob";
}

bool is_srun(std::string_view word) {
    return word == "srun" || word.ends_with("/srun");
}

bool ends_command(std::string_view word) {
    return word.size() == 1 && std::string_view(";&|()`").find(word[0]) != std::string_view::npos;
}

// An argument of the option before it rather than the user's program: numbers, node counts, times.
bool looks_like_argument(std::string_view word) {
    return word.find_first_not_of("0123456789-:,.kKmMgG") == std::string_view::npos;
}

Request request_in_srun_options(std::string_view& line) {
    std::string_view before;
    while (true) {
        const std::string_view word = take_word(line, true);
        if (word.empty() || ends_command(word)) return Request::none;
        if (word.front() == '-') {
            if (const Request request = request_in_option(word); request != Request::none) return request;
        } else if (!takes_next_word(before) && !(before.starts_with("--") && looks_like_argument(word))) {
            return Request::none;  // the user's program; what follows are its arguments
        }
        before = word;
    }
}

Request request_in_command(std::string_view line) {
    for (std::string_view word = take_word(line, true); !word.empty(); word = take_word(line, true)) {
        if (!is_srun(word)) continue;
        if (const Request request = request_in_srun_options(line); request != Request::none) return request;
    }
    return Request::none;
}

}  // namespace

Request request_in_option(std::string_view word) noexcept {
    constexpr std::string_view image = "--container-image";
    constexpr std::string_view name = "--container-name";
    constexpr std::size_t shortest = std::string_view("--container-i").size();
    const std::string_view option = word.substr(0, word.find('='));
    if (option.size() < shortest) return Request::none;
    if (image.starts_with(option)) return Request::image_option;
    if (name.starts_with(option)) return Request::name_option;
    return Request::none;
}

ScriptFindings scan_script(std::string_view script) noexcept {
    ScriptFindings findings;
    findings.cut = script.size() > limits::script_scan_bytes;
    script = script.substr(0, limits::script_scan_bytes);
    // Nearly every script has no such word at all, and memmem() says so at memory speed; find() stops at each
    // '-', of which scripts have many (tests/bench/gate_bench.cpp).
    if (script.empty() ||
        ::memmem(script.data(), script.size(), any_option.data(), any_option.size()) == nullptr)
        return findings;

    bool directives = true;
    for (unsigned number = 1; !script.empty(); ++number) {
        if (directives && script.starts_with(magic)) {
            const std::string_view options = take_line(script).substr(magic.size());
            if (starts_het_component(options)) directives = false;
            if (directives && findings.directive == Request::none) {
                findings.directive = request_in_directive(options);
                findings.directive_line = findings.directive == Request::none ? 0 : number;
            }
            continue;
        }
        // A backslash joins lines of commands, and not of comments.
        if (!is_command_line(script.substr(0, script.find('\n')))) {
            take_line(script);
            continue;
        }
        const unsigned first = number;
        const std::string_view line = take_command_line(script, number);
        directives = false;
        if (findings.srun == Request::none) {
            findings.srun = request_in_command(line);
            findings.srun_line = findings.srun == Request::none ? 0 : first;
        }
    }
    return findings;
}

}  // namespace llmgw
