// Whether a path is one of those that a pattern of glob(3) gives: `*`, `?` and `[...]` within a component,
// none of which takes a dot at its beginning; `\` takes the next character as it is.
#pragma once

#include <string_view>

namespace llmgw {

bool glob_matches(std::string_view pattern, std::string_view path);
bool has_wildcard(std::string_view pattern);

}  // namespace llmgw
