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

}  // namespace llmgw
