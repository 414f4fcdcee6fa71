// From a document to settings: is every key known, and has its value the right type?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/settings.hpp"
#include "core/value.hpp"

namespace llmgw {

struct ParsedSettings {
    Settings settings;
    // In the order of the document.
    std::vector<SettingError> errors;
    // Keys whose value had the wrong type and so is not in `settings`: what they say is unknown, so that the
    // rules must not complain about it a second time. `nodes[3]` keeps its place in `nodes`, as an empty
    // name.
    std::set<std::string> unread;
};

// All unknown keys and wrong types at once. Null is a wrong type: a key that is not wanted is left out.
[[nodiscard]] ParsedSettings parse_settings(const Value& document);

}  // namespace llmgw
