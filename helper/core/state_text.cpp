#include "core/state_text.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace llmgw {
namespace {

bool is_key(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '.'; });
}

Error broken(std::size_t line, const char* what) {
    return {Code::invalid, "line " + std::to_string(line) + " " + what};
}

// Other bytes stay as they are: a path is compared with what the loader says.
std::string on_one_line(std::string_view value) {
    std::string line(value);
    const auto breaks = [](const char& c) { return has_control_characters({&c, 1}); };
    std::replace_if(line.begin(), line.end(), breaks, ' ');
    return line;
}

bool has(const StateFields& fields, std::string_view key) {
    return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return field.first == key; });
}

}  // namespace

Result<StateFields> parse_state_text(std::string_view text, std::string_view header) {
    StateFields fields;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t newline = text.find('\n');
        if (newline == std::string_view::npos) return broken(number, "is cut off");
        const std::string_view line = text.substr(0, newline);
        text.remove_prefix(newline + 1);
        if (number == 1) {
            if (line != header) {
                return Error{Code::invalid, "is not in the format \"" + std::string(header) + "\""};
            }
            continue;
        }
        if (line == "end") {
            if (!text.empty()) return broken(number + 1, "follows the end");
            return fields;
        }
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) return broken(number, "has no value");
        const std::string_view key = line.substr(0, space);
        const std::string_view value = line.substr(space + 1);
        if (!is_key(key)) return broken(number, "has no proper key");
        if (value.empty() || has_control_characters(value)) return broken(number, "has no proper value");
        if (has(fields, key)) return broken(number, "repeats a key");
        fields.emplace_back(key, value);
    }
    return Error{Code::invalid, number == 0 ? "is empty" : "has no end line"};
}

std::string format_state_text(std::string_view header, const StateFields& fields) {
    std::string text(header);
    text += '\n';
    for (const auto& [key, value] : fields) {
        text += key;
        text += ' ';
        text += value.empty() ? "-" : on_one_line(value);
        text += '\n';
    }
    text += "end\n";
    return text;
}

Result<std::string> state_field(const StateFields& fields, std::string_view key) {
    for (const auto& [name, value] : fields) {
        if (name == key) return value;
    }
    return Error{Code::invalid, "has no \"" + std::string(key) + "\""};
}

}  // namespace llmgw
