// Somebody else's text inside a message of ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/limits.hpp"

namespace llmgw {

// The text with everything replaced by `?` that could move a cursor, end a line or reorder what is read:
// control characters (C0, DEL, C1), line separators, bidirectional marks, bytes that are not UTF-8. At most
// `most` bytes of it, cut between characters, with `...` after them where something was cut.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = limits::shown_bytes);

// The same in double quotes.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = limits::shown_bytes);

}  // namespace llmgw
