// What jansson does not tell about a text that it has accepted: how deep it goes and which keys are there
// twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw::json {

struct Place {
    int line = 1;
    int column = 1;  // in characters

    bool operator==(const Place&) const = default;
};

// Where the byte `at` of a text is.
[[nodiscard]] Place place_of(std::string_view text, std::size_t at);

struct Repeated {
    std::string path;  // `shared.nfs`, `list[2].key`; each key printable
    Place first;
    Place last;
    std::size_t times = 2;

    bool operator==(const Repeated&) const = default;
};

struct Scan {
    std::vector<Repeated> repeated;  // in the order of the second time
    std::optional<Place>
        too_deep;  // where the first level past the limit begins; nothing after it was looked at
};

// `text` is JSON: jansson has read all of it.
[[nodiscard]] Scan scan(std::string_view text, std::size_t most_depth);

}  // namespace llmgw::json
