// Why a program failed, out of what it printed, as part of one line.
#pragma once

#include <string>
#include <string_view>

namespace llmgw {

// The last `lines` that say something, joined by "; ", harmless and at most limits::last_words_bytes.
std::string last_words(std::string_view output, int lines);

// Of a build: the first line with an error of compiler or linker, else the last line that isn't make's own.
std::string build_failure(std::string_view output);

}  // namespace llmgw
