#include "core/utf8.hpp"

namespace llmgw {

Character first_character(std::string_view text) noexcept {
    if (text.empty()) return {};
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};

    const Character broken{lead, 1, false};
    std::size_t bytes = 0;
    char32_t code = 0;
    char32_t smallest = 0;
    if ((lead & 0xE0U) == 0xC0U) {
        bytes = 2, code = lead & 0x1FU, smallest = 0x80;
    } else if ((lead & 0xF0U) == 0xE0U) {
        bytes = 3, code = lead & 0x0FU, smallest = 0x800;
    } else if ((lead & 0xF8U) == 0xF0U) {
        bytes = 4, code = lead & 0x07U, smallest = 0x10000;
    } else {
        return broken;
    }
    if (text.size() < bytes) return broken;
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xC0U) != 0x80U) return broken;
        code = (code << 6U) | (byte(at) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < smallest || code > 0x10FFFF || surrogate) return broken;
    return {code, bytes, true};
}

bool is_harmless(const Character& character) noexcept {
    if (!character.valid) return false;
    const char32_t code = character.code;
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;
    if (code == 0x061C || code == 0x200E || code == 0x200F) return false;  // bidirectional marks
    if (code >= 0x2028 && code <= 0x202E) return false;  // separators, embeddings, overrides
    return !(code >= 0x2066 && code <= 0x2069);          // isolates
}

}  // namespace llmgw
