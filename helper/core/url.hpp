// URLs that are fetched from. Stricter than RFC 3986 on purpose: what is not taken here can't be read in two
// ways by two libraries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw {

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

// Whether a path and query can be sent as they are: nothing that must be escaped, no fragment.
bool is_url_text(std::string_view text);

// For one segment of a path: everything but letters, digits and "-._~" becomes %XX.
std::string percent_encoded(std::string_view segment);
// The way back. invalid: a broken escape, or a NUL.
Result<std::string> percent_decoded(std::string_view text);

}  // namespace llmgw
