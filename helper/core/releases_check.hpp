// The rules for what releases say, all of them at once.
#pragma once

#include <vector>

#include "core/releases_parse.hpp"

namespace llmgw {

// Every rule that does not hold, in the order of docs/releases.md. Keys that could not be read are passed
// over.
[[nodiscard]] std::vector<SettingError> check_releases(const ParsedReleases& parsed);

}  // namespace llmgw
