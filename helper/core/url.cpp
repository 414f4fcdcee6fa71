#include "core/url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"

namespace llmgw {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::optional<unsigned> hex_digit(char c) {
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

Error wrong(std::string_view text, const std::string& why) {
    return {Code::invalid, "the URL " + shown(text) + " can't be used: " + why};
}

// Nothing but an unsigned decimal number up to `most`.
std::optional<unsigned> number(std::string_view text, unsigned most) {
    unsigned value = 0;
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
    return value;
}

bool is_host(std::string_view host, bool bracketed) {
    if (host.empty() || host.size() > 253) return false;
    return std::all_of(host.begin(), host.end(), [bracketed](char c) {
        return bracketed ? c == ':' || c == '.' || hex_digit(c).has_value()
                         : is_alphanumeric(c) || c == '.' || c == '-';
    });
}

}  // namespace

bool is_url_text(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

std::string Url::text() const {
    const bool six = host.find(':') != std::string::npos;
    const std::string place = six ? "[" + host + "]" : host;
    const bool usual = port == (tls ? 443 : 80);
    return std::string(tls ? "https://" : "http://") + place + (usual ? "" : ":" + std::to_string(port)) +
           target;
}

Result<Url> parse_url(std::string_view text) {
    if (text.size() > limits::http_url_bytes) return wrong(text, "it is too long");
    Url url;
    std::string_view rest = text;
    if (rest.starts_with("https://")) {
        rest.remove_prefix(8);
    } else if (rest.starts_with("http://")) {
        url.tls = false;
        url.port = 80;
        rest.remove_prefix(7);
    } else {
        return wrong(text, "it must begin with https:// or http://");
    }
    const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    std::string_view authority = rest.substr(0, end);
    std::string_view target = rest.substr(end);
    if (authority.find('@') != std::string_view::npos) return wrong("...", "it has a user name in it");
    const bool bracketed = authority.starts_with('[');
    const std::size_t close = bracketed ? authority.find(']') : authority.find(':');
    if (bracketed && close == std::string_view::npos) return wrong(text, "a ] is missing");
    const std::string_view host = bracketed ? authority.substr(1, close - 1) : authority.substr(0, close);
    std::string_view port = close == std::string_view::npos ? std::string_view{} : authority.substr(close);
    if (bracketed) port.remove_prefix(1);
    if (!is_host(host, bracketed)) return wrong(text, "its host is not one");
    if (!port.empty()) {
        const auto value = port.starts_with(':') ? number(port.substr(1), 65535) : std::nullopt;
        if (!value || *value == 0) return wrong(text, "its port is not one");
        url.port = static_cast<std::uint16_t>(*value);
    }
    if (!is_url_text(target))
        return wrong(text, "blanks, control characters and fragments have no place in it");
    url.host = host;
    url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
    return url;
}

bool is_loopback(std::string_view host) {
    if (host == "localhost" || host == "::1") return true;
    std::size_t parts = 0;
    for (std::string_view rest = host; !rest.empty(); ++parts) {
        const std::size_t dot = rest.find('.');
        const std::string_view text = rest.substr(0, dot);
        // A leading zero makes it octal for some: curl takes 0127.0.0.1 for 87.0.0.1.
        const auto part = text.size() > 1 && text.front() == '0' ? std::nullopt : number(text, 255);
        if (!part || (parts == 0 && *part != 127)) return false;
        // A trailing dot leaves an empty fifth part, which is no address.
        if (dot != std::string_view::npos && dot + 1 == rest.size()) return false;
        rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    }
    return parts == 4;
}

Result<std::string> percent_decoded(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
            const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
            if (!high || !low) return Error{Code::invalid, "a % without two hexadecimal digits behind it"};
            c = static_cast<char>(*high * 16 + *low);
            i += 2;
        }
        if (c == '\0') return Error{Code::invalid, "a NUL"};
        decoded += c;
    }
    return decoded;
}

std::string percent_encoded(std::string_view segment) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : segment) {
        if (is_alphanumeric(c) || std::string_view("-._~").find(c) != std::string_view::npos) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += digits[byte >> 4U];
        encoded += digits[byte & 15U];
    }
    return encoded;
}

}  // namespace llmgw
