// UTF-8, one character at a time. For text that goes to a terminal, a log or a JSON document.
#pragma once

#include <cstddef>
#include <string_view>

namespace llmgw {

struct Character {
    char32_t code = 0;
    std::size_t bytes = 0;  // 0 only at the end of the text; 1 for a byte that begins no character
    bool valid = false;     // no overlong form, no surrogate, nothing past U+10FFFF
};

// The character that `text` begins with.
[[nodiscard]] Character first_character(std::string_view text) noexcept;

// Valid, and it can move no cursor, end no line and reorder nothing that is read: no control character (C0,
// DEL, C1), line separator or bidirectional mark.
[[nodiscard]] bool is_harmless(const Character& character) noexcept;

}  // namespace llmgw
