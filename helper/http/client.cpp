#include "http/client.hpp"

#include <strings.h>

#include <array>
#include <cstring>
#include <ctime>
#include <optional>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/url.hpp"
#include "http/curl.hpp"
#include "http/transfer.hpp"

namespace llmgw::http {
namespace {

// What the callbacks fill. They run inside libcurl, so they must not throw into it: everything they keep is
// bounded by `max_bytes` and http_answer_head_bytes.
struct Transfer {
    Response response;
    AnswerHead head;
    std::size_t max_bytes = 0;
    bool too_large = false;
};

std::size_t take_body(char* data, std::size_t, std::size_t size, void* context) {
    auto& transfer = *static_cast<Transfer*>(context);
    if (size > transfer.max_bytes - transfer.response.body.size()) {
        transfer.too_large = true;
        return 0;
    }
    transfer.response.body.append(data, size);
    return size;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* context) {
    auto& transfer = *static_cast<Transfer*>(context);
    if (transfer.head.take({data, size})) return size;
    transfer.too_large = true;
    return 0;
}

bool is_token(std::string_view text) {
    return !text.empty() && text.find_first_of(" \t:\r\n") == std::string_view::npos &&
           !has_control_characters(text);
}

Result<void> check(const Request& request, const Url& url) {
    if (!is_token(request.method))
        return Error{Code::invalid, "the method " + shown(request.method) + " is none"};
    if (Result<void> reachable = check_reach(url); !reachable) return reachable.error();
    for (const auto& [name, value] : request.headers) {
        if (!is_token(name) || has_control_characters(value)) {
            return Error{Code::invalid, "the header " + shown(name) + " can't be sent"};
        }
    }
    // Not one byte of the token may reach a message, so the message doesn't say which one is wrong.
    if (!request.bearer.empty() && !is_token(request.bearer)) {
        return Error{Code::invalid, "the bearer token has blanks or control characters in it"};
    }
    return {};
}

Result<void> add_headers(HeaderList& list, const Request& request) {
    // Curl would ask for permission to send a large body and wait a second for it.
    bool added = list.add("Expect:");
    if (header(request.headers, "Content-Type").empty()) {
        // Curl takes an empty body for a form.
        added = added && list.add(request.body.empty() ? "Content-Type:" : "Content-Type: application/json");
    }
    for (const auto& [name, value] : request.headers) {
        // Curl drops a header that ends with the colon, and sends an empty one for a semicolon.
        added = added && list.add(value.empty() ? name + ";" : name + ": " + value);
    }
    if (!request.bearer.empty()) added = added && list.add("Authorization: Bearer " + request.bearer);
    if (!added) return Error{Code::internal, "out of memory"};
    return {};
}

bool set_up(CURL* easy, const Request& request, const Url& url, const HeaderList& headers,
            Transfer& transfer) {
    const Reach reach{request.connect_timeout, request.total_timeout, request.ca_file, request.proxy};
    bool done = set_reach(easy, url, reach);
    done = done && set(easy, CURLOPT_HTTPHEADER, headers.get()) &&
           set(easy, CURLOPT_WRITEFUNCTION, &take_body) && set(easy, CURLOPT_WRITEDATA, &transfer) &&
           set(easy, CURLOPT_HEADERFUNCTION, &take_header) && set(easy, CURLOPT_HEADERDATA, &transfer);
    if (request.method == "HEAD") return done && set(easy, CURLOPT_NOBODY, 1L);
    if (!request.body.empty() || request.method == "PUT" || request.method == "POST" ||
        request.method == "PATCH") {
        done = done && set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size())) &&
               set(easy, CURLOPT_POSTFIELDS, request.body.data());
    }
    return done && set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

}  // namespace

std::string header(const Headers& headers, std::string_view name) {
    for (const auto& [key, value] : headers) {
        if (key.size() == name.size() && ::strncasecmp(key.data(), name.data(), name.size()) == 0)
            return value;
    }
    return {};
}

std::optional<std::int64_t> date_of(const Headers& headers) {
    const std::time_t when = ::curl_getdate(header(headers, "Date").c_str(), nullptr);
    if (when < 0) return std::nullopt;
    return when;
}

Client::Client() : handles_(Handles::make()) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Response> Client::send(const Request& request, const std::stop_token& stop) {
    const Result<Url> url = parse_url(request.url);
    if (!url) return url.error();
    if (Result<void> checked = check(request, url.value()); !checked) return checked.error();
    const std::string what = title(request.method, url.value());
    if (!handles_) return Error{Code::internal, what + ": out of memory"};

    CURL* const easy = handles_->easy.get();
    curl_easy_reset(easy);
    HeaderList headers;
    if (Result<void> added = add_headers(headers, request); !added) return added.error().within(what);
    Transfer transfer;
    transfer.max_bytes = request.max_bytes;
    std::array<char, CURL_ERROR_SIZE> reason{};
    if (!set(easy, CURLOPT_ERRORBUFFER, reason.data()) ||
        !set_up(easy, request, url.value(), headers, transfer)) {
        return Error{Code::internal, what + ": libcurl doesn't take an option; is it older than 7.85?"};
    }
    std::optional<CURLcode> result;
    {
        const Membership membership(handles_->multi.get(), easy);
        if (membership.added() != CURLM_OK)
            return Error{Code::internal, what + ": libcurl has no memory left"};
        result = run(handles_->multi.get(), stop);
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        transfer.response.status = static_cast<int>(status);
    }
    // The buffers that the handle still points to end with this call.
    curl_easy_reset(easy);
    if (!result) return Error{Code::unavailable, what + ": given up, since this program is stopping"};
    if (transfer.too_large) {
        return Error{Code::too_large, what + ": the answer has more than " +
                                          std::to_string(request.max_bytes) + " bytes, or more than " +
                                          std::to_string(limits::http_answer_head_bytes) +
                                          " bytes of headers"};
    }
    if (*result != CURLE_OK) {
        return Error{code_of(*result), what + ": " + reason_of_curl(*result, reason.data())};
    }
    transfer.response.headers = std::move(transfer.head.headers);
    return std::move(transfer.response);
}

Result<Response> fetch(const Request& request, const std::stop_token& stop) {
    return Client().send(request, stop);
}

}  // namespace llmgw::http
