#include "leader/routes.hpp"

#include <algorithm>
#include <charconv>

#include "core/limits.hpp"
#include "core/text.hpp"

namespace llmgw::leader {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "7" or W/"7": a weak one is as good here, answers of one revision mean the same.
std::optional<std::uint64_t> revision_in(std::string_view tag) {
    tag = trimmed(tag);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag.size() < 2 || !tag.starts_with('"') || !tag.ends_with('"')) return std::nullopt;
    return number(tag.substr(1, tag.size() - 2));
}

}  // namespace

std::optional<Route> route_of(const http::Target& target) {
    const std::vector<std::string>& path = target.segments;
    if (path.size() < 3 || path.size() > 5 || path[0] != "slurm" || path[1] != "v1") return std::nullopt;
    if (path.size() == 3 && path[2] == "settings") return Route{Route::Resource::settings, {}};
    if (path.size() == 3 && path[2] == "machines") return Route{Route::Resource::machines, {}};
    if (path.size() == 3 && path[2] == "accounts") return Route{Route::Resource::accounts, {}};
    if (path.size() == 3 && path[2] == "munge-key") return Route{Route::Resource::munge_key, {}};
    if (path.size() == 4 && path[2] == "machines") return Route{Route::Resource::machine, path[3]};
    if (path.size() == 5 && path[2] == "nodes" && path[4] == "lease")
        return Route{Route::Resource::lease, path[3]};
    return std::nullopt;
}

std::optional<Permission> permission_for(const Route& route, const std::string& method) {
    switch (route.resource) {
        case Route::Resource::settings:
            if (method == "GET") return Permission{false, 0};
            if (method == "PATCH") return Permission{true, limits::settings_bytes};
            break;
        case Route::Resource::machines:
        case Route::Resource::accounts:
        case Route::Resource::munge_key:
            if (method == "GET") return Permission{false, 0};
            break;
        case Route::Resource::machine:
            if (method == "PUT") return Permission{false, limits::report_bytes};
            if (method == "DELETE") return Permission{true, 0};
            break;
        case Route::Resource::lease:
            if (method == "GET") return Permission{false, 0};
            if (method == "POST" || method == "DELETE") return Permission{false, limits::lease_bytes};
            break;
    }
    return std::nullopt;
}

std::string methods_of(const Route& route) {
    switch (route.resource) {
        case Route::Resource::settings:
            return "GET, PATCH";
        case Route::Resource::machines:
        case Route::Resource::accounts:
        case Route::Resource::munge_key:
            return "GET";
        case Route::Resource::machine:
            return "PUT, DELETE";
        case Route::Resource::lease:
            return "GET, POST, DELETE";
    }
    return {};
}

Result<std::chrono::seconds> wait_of(const http::Target& target) {
    const auto found = target.query.find("wait");
    if (found == target.query.end()) return std::chrono::seconds(0);
    const std::optional<std::uint64_t> seconds = number(found->second);
    if (!seconds) return Error{Code::invalid, "wait: a whole number of seconds is wanted"};
    const auto most = static_cast<std::uint64_t>(limits::long_poll.count());
    return std::chrono::seconds(std::min(*seconds, most));
}

std::string etag_of(std::uint64_t revision) {
    return "\"" + std::to_string(revision) + "\"";
}

bool has_seen(const http::Headers& headers, std::uint64_t revision) {
    const std::string tags = http::header(headers, "If-None-Match");
    const std::vector<std::string_view> each = split(tags, ',');
    return std::any_of(each.begin(), each.end(),
                       [&](std::string_view tag) { return revision_in(tag) == revision; });
}

Result<std::optional<std::uint64_t>> expected_revision(const http::Headers& headers) {
    const std::string tag = http::header(headers, "If-Match");
    if (tag.empty() || tag == "*") return std::optional<std::uint64_t>();
    const std::optional<std::uint64_t> revision = revision_in(tag);
    if (!revision) return Error{Code::invalid, "If-Match: one ETag of an earlier answer is wanted"};
    return revision;
}

}  // namespace llmgw::leader
