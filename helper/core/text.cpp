#include "core/text.hpp"

#include <algorithm>

#include "core/utf8.hpp"

namespace llmgw {
namespace {

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

// The most bytes up to `most` that end between characters; `most` itself where the bytes there are no UTF-8.
std::size_t whole_characters(std::string_view text, std::size_t most) {
    constexpr std::size_t longest = 4;
    for (std::size_t back = 0; back < longest && back <= most; ++back) {
        const bool inside = (static_cast<unsigned char>(text[most - back]) & 0xC0) == 0x80;
        if (!inside) return most - back;
    }
    return most;
}

}  // namespace

bool has_control_characters(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

std::string without_control_characters(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const Character character = first_character(text);
        clean += is_harmless(character) ? text.substr(0, character.bytes) : " ";
        text.remove_prefix(character.bytes);
    }
    return clean;
}

std::string shortened(std::string_view text, std::size_t most) {
    constexpr std::string_view dots = "...";
    if (text.size() <= most) return std::string(text);
    if (most <= dots.size()) return std::string(text.substr(0, whole_characters(text, most)));
    return std::string(text.substr(0, whole_characters(text, most - dots.size()))).append(dots);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        pieces.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return pieces;
        text.remove_prefix(end + 1);
        if (text.empty()) pieces.push_back(text);
    }
    return pieces;
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (i != 0) text += separator;
        text += pieces[i];
    }
    return text;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string directory_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace llmgw
