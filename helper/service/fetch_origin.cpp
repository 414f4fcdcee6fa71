#include "service/fetch_origin.hpp"

#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/url.hpp"

namespace llmgw::service {
namespace {

Error wrong_mirror(const std::string& mirror, const std::string& why) {
    return {Code::invalid, "the mirror " + shown(mirror) + " can't be used: " + why};
}

Result<FetchOrigin> url_origin(const std::string& text) {
    const Result<Url> url = parse_url(text);
    if (!url) return url.error();
    if (!url.value().tls && !is_loopback(url.value().host)) {
        return Error{Code::invalid, "plain http is only used towards loopback, and " +
                                        shown(url.value().host) + " is elsewhere: use an https:// URL"};
    }
    return FetchOrigin{false, text};
}

Result<FetchOrigin> directory_origin(const std::string& mirror, const std::string& path) {
    if (!path.starts_with('/') || has_control_characters(path))
        return wrong_mirror(mirror, "a directory's path begins with a slash, and has no control characters");
    return FetchOrigin{true, path};
}

}  // namespace

std::string FetchOrigin::text(const PinnedFile& file) const {
    if (!local) return printable(place.substr(0, place.find('?')), 1024);
    return printable(place, 1024) + (place.ends_with('/') ? "" : "/") + file.name;
}

Result<FetchOrigin> origin_of(const PinnedFile& file, const std::string& mirror) {
    if (!is_pinned_name(file.name))
        return Error{Code::invalid, shown(file.name) + " is no name for a file in the cache"};
    if (!is_sha256(file.sha256))
        return Error{Code::invalid,
                     file.name + " is pinned by " + shown(file.sha256) + ", which is no SHA-256"};
    if (mirror.empty()) return url_origin(file.url);
    if (mirror.starts_with('/')) return directory_origin(mirror, mirror);
    if (mirror.starts_with("file://")) {
        std::string_view path = std::string_view(mirror).substr(7);
        if (path.starts_with("localhost/")) path.remove_prefix(9);
        const Result<std::string> decoded = percent_decoded(path);
        if (!decoded) return wrong_mirror(mirror, "it has " + decoded.error().message);
        return directory_origin(mirror, decoded.value());
    }
    if (!mirror.starts_with("https://") && !mirror.starts_with("http://"))
        return wrong_mirror(mirror, "use an https:// URL or an absolute directory");
    if (mirror.find('?') != std::string::npos)
        return wrong_mirror(mirror, "files' names are put behind it, so it can't have a query");
    Result<FetchOrigin> origin =
        url_origin(mirror + (mirror.ends_with('/') ? "" : "/") + percent_encoded(file.name));
    if (!origin) return wrong_mirror(mirror, origin.error().message);
    return origin;
}

}  // namespace llmgw::service
