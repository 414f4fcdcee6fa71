#include "http/answer_kind.hpp"

#include <charconv>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/url.hpp"

namespace llmgw::http {
namespace {

// Takes the digits at the beginning.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t value = 0;
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view head) {
    if (!text.starts_with(head)) return false;
    text.remove_prefix(head.size());
    return true;
}

std::string_view phrase(int status) {
    switch (status) {
        case 304:
            return "Not Modified";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 408:
            return "Request Timeout";
        case 410:
            return "Gone";
        case 416:
            return "Range Not Satisfiable";
        case 429:
            return "Too Many Requests";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        default:
            return "";
    }
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view text) {
    ContentRange range;
    if (!take(text, "bytes ")) return std::nullopt;
    const auto first = take_number(text);
    if (!first || !take(text, "-")) return std::nullopt;
    const auto last = take_number(text);
    if (!last || !take(text, "/") || *last < *first) return std::nullopt;
    if (text != "*") {
        range.total = take_number(text);
        if (!range.total || !text.empty() || *range.total <= *last) return std::nullopt;
    }
    range.first = *first;
    range.last = *last;
    return range;
}

std::optional<std::uint64_t> parse_unsatisfied_range(std::string_view text) {
    if (!take(text, "bytes */")) return std::nullopt;
    return parse_length(text);
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
    const auto value = take_number(text);
    return text.empty() ? value : std::nullopt;
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool is_passing(int status) {
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

Error refusal_of(int status) {
    std::string text = "the server answers " + std::to_string(status);
    if (!phrase(status).empty()) text += " " + std::string(phrase(status));
    if (status == 404 || status == 410) return {Code::missing, text + ": it isn't there"};
    if (status == 401 || status == 403) return {Code::denied, text + ": it isn't for everyone there"};
    return {Code::unavailable, std::move(text)};
}

Result<std::string> followed(std::string_view from, std::string_view to) {
    const Result<Url> old_place = parse_url(from);
    if (!old_place) return old_place.error();
    if (to.empty()) return Error{Code::invalid, "it is redirected to nowhere"};
    const Result<Url> place = parse_url(to.substr(0, to.find('#')));
    if (!place) return place.error().within("it is redirected");
    const Url& was = old_place.value();
    const Url& now = place.value();
    if (was.tls && now.tls) return now.text();
    if (!was.tls && !now.tls && was.host == now.host && was.port == now.port) return now.text();
    return Error{Code::invalid, "it is redirected to " + shown(now.host) + " by " +
                                    (now.tls ? "https" : "http") + ", which isn't followed from " +
                                    (was.tls ? "https" : "http")};
}

}  // namespace llmgw::http
