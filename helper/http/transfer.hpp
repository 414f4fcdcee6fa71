// What every transfer with libcurl has in common, so that there is one place that verifies, bounds and ends
// them: client.cpp for answers that are kept in memory, download.cpp for files.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/url.hpp"
#include "http/client.hpp"
#include "http/curl.hpp"

namespace llmgw::http {

// A multi handle for its way to be woken, and the one easy handle that is used with it.
struct Handles {
    Multi multi{curl_multi_init()};
    Easy easy{curl_easy_init()};

    // Nothing when there is no memory, or libcurl can't be made ready.
    static std::unique_ptr<Handles> make();
};

// curl_easy_setopt takes varargs: `long` must be a long.
template <class T>
bool set(CURL* easy, CURLoption option, T value) {
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

struct Reach {
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds total_timeout{30'000};
    std::string ca_file;  // PEM; empty: the system's
    std::string proxy;    // empty: none
};

// TLS verified, no redirects, no proxy but the one that is named, times bounded.
bool set_reach(CURL* easy, const Url& url, const Reach& reach);

// invalid: plain HTTP to elsewhere than loopback.
Result<void> check_reach(const Url& url);

// The headers of the last answer that came, and of none before it (100, redirects of a proxy).
class AnswerHead {
  public:
    // False when all that came is too much.
    [[nodiscard]] bool take(std::string_view line);
    Headers headers;

  private:
    std::size_t bytes_ = 0;
};

// Runs the one transfer of a multi handle: its own end, or nothing when `stop` came first.
std::optional<CURLcode> run(CURLM* multi, const std::stop_token& stop);

Code code_of(CURLcode result);
// What libcurl says about it, in one line.
std::string reason_of_curl(CURLcode result, const char* buffer);

// "GET https://leader:8470/slurm/v1/settings"; the query says nothing to people, and may hold a signature.
std::string title(const std::string& method, const Url& url);

}  // namespace llmgw::http
