// From a document to releases: is every key known and there, and has its value the right type?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/releases.hpp"
#include "core/settings.hpp"
#include "core/value.hpp"

namespace llmgw {

struct ParsedReleases {
    Releases releases;
    std::string enroot_origin;
    // In the order of the document; keys that are missing come behind what their object has.
    std::vector<SettingError> errors;
    // Keys that are missing or had the wrong type: the rules say nothing about them. Empty: of the
    // document.
    std::set<std::string> unread;
};

[[nodiscard]] ParsedReleases parse_releases(const Value& document);

}  // namespace llmgw
