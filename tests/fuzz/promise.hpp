// What fuzz targets hold code to, for a fuzzer and for the tests that replay its corpus alike.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

namespace llmgw::fuzz {

// Ends the process, so that a fuzzer and a test notice alike.
inline void must(bool holds) {
    if (!holds) std::abort();
}

inline bool one_printable_line(const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; });
}

}  // namespace llmgw::fuzz
