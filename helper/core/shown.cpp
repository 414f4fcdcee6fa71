#include "core/shown.hpp"

#include "core/utf8.hpp"

namespace llmgw {

namespace {

bool harmless(const Character& character) {
    if (!character.valid) return false;
    const char32_t code = character.code;
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;
    if (code == 0x061C || code == 0x200E || code == 0x200F) return false;  // bidirectional marks
    if (code >= 0x2028 && code <= 0x202E) return false;  // separators, embeddings, overrides
    return !(code >= 0x2066 && code <= 0x2069);          // isolates
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
    std::string result;
    result.reserve(text.size() < most ? text.size() : most + 3);
    while (!text.empty()) {
        const Character character = first_character(text);
        const std::string_view piece = harmless(character) ? text.substr(0, character.bytes) : "?";
        if (result.size() + piece.size() > most) return result + "...";
        result += piece;
        text.remove_prefix(character.bytes);
    }
    return result;
}

std::string shown(std::string_view text, std::size_t most) {
    return '"' + printable(text, most) + '"';
}

}  // namespace llmgw
