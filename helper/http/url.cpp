#include "http/url.hpp"

#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw::http {
namespace {

Result<std::map<std::string, std::string>> parse_query(std::string_view text) {
    std::map<std::string, std::string> query;
    for (const std::string_view pair : split(text, '&')) {
        const std::size_t equals = pair.find('=');
        Result<std::string> key = percent_decoded(pair.substr(0, equals));
        if (!key) return key.error();
        Result<std::string> value =
            percent_decoded(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1));
        if (!value) return value.error();
        if (!query.emplace(key.value(), value.value()).second) {
            return Error{Code::invalid, shown(key.value()) + " twice"};
        }
    }
    return query;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
    if (!text.starts_with('/')) return Error{Code::invalid, "the request's path does not begin with a slash"};
    // libmicrohttpd makes a blank of a NUL in the request line and passes on all else.
    if (!is_url_text(text)) return Error{Code::invalid, "the request's path has bytes that must be escaped"};
    const std::size_t mark = text.find('?');
    std::string_view path = text.substr(1, mark == std::string_view::npos ? mark : mark - 1);
    Target target;
    for (;;) {
        const std::size_t slash = path.find('/');
        Result<std::string> segment = percent_decoded(path.substr(0, slash));
        if (!segment) return segment.error().within("the request's path has");
        if (segment.value() == "." || segment.value() == "..") {
            return Error{Code::invalid, "the request's path has a segment of nothing but dots"};
        }
        target.segments.push_back(std::move(segment).value());
        if (slash == std::string_view::npos) break;
        path.remove_prefix(slash + 1);
    }
    if (mark == std::string_view::npos) return target;
    Result<std::map<std::string, std::string>> query = parse_query(text.substr(mark + 1));
    if (!query) return query.error().within("the request's query has");
    target.query = std::move(query).value();
    return target;
}

}  // namespace llmgw::http
