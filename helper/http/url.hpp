// Request targets as the server gets them. As strict as core/url.hpp, and for the same reason.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/url.hpp"

namespace llmgw::http {

struct Target {
    std::vector<std::string> segments;  // decoded; "/a/b" has two, "/a/" has an empty last one
    std::map<std::string, std::string> query;

    bool operator==(const Target&) const = default;
};

// What stands in a request line. Broken escapes, NUL, "." and ".." (however spelled), a key twice: invalid.
Result<Target> parse_target(std::string_view text);

}  // namespace llmgw::http
