// The text of the suite's state files: one fixed first line (kind and format version), lines "key value", one
// last line "end". Any other shape, so also half a file or another version's, is an error: readers then fail
// closed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

using StateFields = std::vector<std::pair<std::string, std::string>>;

// `header` is the expected first line, for instance "llmgw-slurm-gate 1". Keys: a-z, '.', at most once each.
// Values: any bytes but control characters, not empty. Unknown keys are kept, so that a field can be added.
Result<StateFields> parse_state_text(std::string_view text, std::string_view header);

// Control characters in values become spaces, so that the result always parses; empty values become "-".
std::string format_state_text(std::string_view header, const StateFields& fields);

// The value of `key`, or an error that names it.
Result<std::string> state_field(const StateFields& fields, std::string_view key);

}  // namespace llmgw
