// The one HTTP client. TLS is always verified, redirects are never followed, plain HTTP goes to loopback
// only, and sizes and times are bounded. Proxies, netrc files and the like that the environment names are not
// looked at.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/result.hpp"

namespace llmgw::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

// The first value of that name, whatever its case; empty when there is none.
std::string header(const Headers& headers, std::string_view name);
// The server's time when it answered (RFC 9110, Date), unix time.
std::optional<std::int64_t> date_of(const Headers& headers);

struct Request {
    std::string method = "GET";
    std::string url;
    Headers headers;
    std::string body;    // sent as application/json unless a header says otherwise
    std::string bearer;  // a token; never part of an error
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds total_timeout{30'000};  // for a long poll: the wait and some seconds
    std::size_t max_bytes = limits::answer_bytes;
    std::string ca_file;  // PEM; empty: the system's
    std::string proxy;    // empty: none
};

struct Response {
    int status = 0;
    Headers headers;
    std::string body;
};

struct Handles;

// Keeps its connection open between requests to the same place. One thread at a time.
class Client {
  public:
    Client();
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    // Any status is a Response. Errors: invalid (the request; plain HTTP to elsewhere), denied (the server's
    // certificate), too_large, timeout, unavailable (no connection, a broken answer, or `stop` was requested,
    // which ends the call at once and from any thread).
    Result<Response> send(const Request& request, const std::stop_token& stop = {});

  private:
    std::unique_ptr<Handles> handles_;
};

// One request on a connection of its own.
Result<Response> fetch(const Request& request, const std::stop_token& stop = {});

}  // namespace llmgw::http
