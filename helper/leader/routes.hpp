// Which resource a path names, what can be done with it, and the small print of headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "http/server.hpp"

namespace llmgw::leader {

struct Route {
    enum class Resource { settings, machines, machine, lease, accounts, munge_key };
    Resource resource = Resource::settings;
    std::string machine;  // of machine and lease, as in the path; not checked
};

std::optional<Route> route_of(const http::Target& target);

struct Permission {
    bool admin_only = false;
    std::size_t body_limit = 0;
};

// Nothing: the resource doesn't have that method.
std::optional<Permission> permission_for(const Route& route, const std::string& method);
// For an Allow header.
std::string methods_of(const Route& route);

// ?wait=S: how long the caller is ready to wait, at most limits::long_poll. invalid: not a number.
Result<std::chrono::seconds> wait_of(const http::Target& target);

std::string etag_of(std::uint64_t revision);
// Whether If-None-Match lists the revision.
bool has_seen(const http::Headers& headers, std::uint64_t revision);
// If-Match with one revision; nothing when it isn't there. Anything else there: invalid.
Result<std::optional<std::uint64_t>> expected_revision(const http::Headers& headers);

}  // namespace llmgw::leader
