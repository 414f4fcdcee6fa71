// What a server's answer to a download means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw::http {

struct ContentRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::optional<std::uint64_t> total;

    bool operator==(const ContentRange&) const = default;
};

// "bytes 0-99/1000" or "bytes 0-99/*". Nothing for all else.
std::optional<ContentRange> parse_content_range(std::string_view text);
// "bytes */1000", of a 416.
std::optional<std::uint64_t> parse_unsatisfied_range(std::string_view text);
// Of a Content-Length. Nothing but a decimal number.
std::optional<std::uint64_t> parse_length(std::string_view text);

bool is_redirect(int status);
// Whether the same request can have another answer soon.
bool is_passing(int status);
// In words, with a code: "404 Not Found: it isn't there".
Error refusal_of(int status);

// Where a redirect leads, as it is to be asked for. Error (invalid): there is none, or it isn't followed:
// from https to http, from http to anywhere but the same host and port.
Result<std::string> followed(std::string_view from, std::string_view to);

}  // namespace llmgw::http
