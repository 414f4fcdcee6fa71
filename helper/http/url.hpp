// URLs of the client, and request targets as the server gets them. Stricter than RFC 3986 on purpose: what is
// not taken here can't be read in two ways by two libraries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw::http {

struct Url {
    bool tls = true;
    std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
    std::uint16_t port = 443;
    std::string target = "/";  // path and query, as sent

    [[nodiscard]] std::string text() const;
    bool operator==(const Url&) const = default;
};

// http or https, a host, perhaps a port, perhaps a path and a query. No user name, no fragment, no blanks.
Result<Url> parse_url(std::string_view text);

// "localhost", 127.0.0.0/8 or ::1, nothing that would need a look-up to know.
bool is_loopback(std::string_view host);

struct Target {
    std::vector<std::string> segments;  // decoded; "/a/b" has two, "/a/" has an empty last one
    std::map<std::string, std::string> query;

    bool operator==(const Target&) const = default;
};

// What stands in a request line. Broken escapes, NUL, "." and ".." (however spelled), a key twice: invalid.
Result<Target> parse_target(std::string_view text);

// For one segment of a path: everything but letters, digits and "-._~" becomes %XX.
std::string percent_encoded(std::string_view segment);

}  // namespace llmgw::http
