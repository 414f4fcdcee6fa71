#include "core/shown.hpp"

#include "core/utf8.hpp"

namespace llmgw {

std::string printable(std::string_view text, std::size_t most) {
    std::string result;
    result.reserve(text.size() < most ? text.size() : most + 3);
    while (!text.empty()) {
        const Character character = first_character(text);
        const std::string_view piece = is_harmless(character) ? text.substr(0, character.bytes) : "?";
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
