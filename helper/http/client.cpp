#include "http/client.hpp"

#include <strings.h>

#include <array>
#include <cstring>
#include <optional>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "http/curl.hpp"
#include "http/url.hpp"

namespace llmgw::http {
namespace {

// What the callbacks fill. They run inside libcurl, so they must not throw into it: everything they keep is
// bounded by `max_bytes` and http_answer_head_bytes.
struct Transfer {
    Response response;
    std::size_t max_bytes = 0;
    std::size_t head_bytes = 0;
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
    transfer.head_bytes += size;
    if (transfer.head_bytes > limits::http_answer_head_bytes) {
        transfer.too_large = true;
        return 0;
    }
    std::string_view line(data, size);
    while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
        // An interim answer (100) may come first; only the last one's headers count.
        transfer.response.headers.clear();
        return size;
    }
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        transfer.response.headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
    }
    return size;
}

Code code_of(CURLcode result) {
    switch (result) {
        case CURLE_OPERATION_TIMEDOUT:
            return Code::timeout;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_CACERT_BADFILE:
            return Code::denied;
        case CURLE_OUT_OF_MEMORY:
            return Code::internal;
        default:
            return Code::unavailable;
    }
}

// "GET https://leader:8470/slurm/v1/settings"; the query says nothing to people.
std::string title(const Request& request, const Url& url) {
    Url shown = url;
    shown.target = shown.target.substr(0, shown.target.find('?'));
    return request.method + " " + shown.text();
}

bool is_token(std::string_view text) {
    return !text.empty() && text.find_first_of(" \t:\r\n") == std::string_view::npos &&
           !has_control_characters(text);
}

Result<void> check(const Request& request, const Url& url) {
    if (!is_token(request.method))
        return Error{Code::invalid, "the method " + shown(request.method) + " is none"};
    if (!url.tls && !is_loopback(url.host)) {
        return Error{Code::invalid, "plain http is only used towards loopback, and " + shown(url.host) +
                                        " is elsewhere: use an https:// URL"};
    }
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

// curl_easy_setopt takes varargs: `long` must be a long.
template <class T>
bool set(CURL* easy, CURLoption option, T value) {
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

bool set_up(CURL* easy, const Request& request, const Url& url, const HeaderList& headers,
            Transfer& transfer) {
    const std::string text = url.text();
    bool done = set(easy, CURLOPT_URL, text.c_str()) && set(easy, CURLOPT_PATH_AS_IS, 1L) &&
                set(easy, CURLOPT_PROTOCOLS_STR, "http,https") && set(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
                set(easy, CURLOPT_NOSIGNAL, 1L) && set(easy, CURLOPT_PROXY, request.proxy.c_str()) &&
                set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count())) &&
                set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.total_timeout.count()));
    done = done && set(easy, CURLOPT_SSL_VERIFYPEER, 1L) && set(easy, CURLOPT_SSL_VERIFYHOST, 2L) &&
           set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!request.ca_file.empty()) done = done && set(easy, CURLOPT_CAINFO, request.ca_file.c_str());
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

// The transfer's own end, or nothing when `stop` came first.
std::optional<CURLcode> run(CURLM* multi, const std::stop_token& stop) {
    const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
    while (!stop.stop_requested()) {
        int running = 0;
        if (curl_multi_perform(multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
        if (running == 0) {
            int left = 0;
            const CURLMsg* const message = curl_multi_info_read(multi, &left);
            return message == nullptr ? CURLE_FAILED_INIT : message->data.result;
        }
        if (curl_multi_poll(multi, nullptr, 0, 1000, nullptr) != CURLM_OK) return CURLE_FAILED_INIT;
    }
    return std::nullopt;
}

}  // namespace

std::string header(const Headers& headers, std::string_view name) {
    for (const auto& [key, value] : headers) {
        if (key.size() == name.size() && ::strncasecmp(key.data(), name.data(), name.size()) == 0)
            return value;
    }
    return {};
}

struct Client::Handles {
    Multi multi{curl_multi_init()};
    Easy easy{curl_easy_init()};
};

Client::Client() {
    // Before any handle, and once: not every build of libcurl can do it from two threads.
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready == CURLE_OK) handles_ = std::make_unique<Handles>();
}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Response> Client::send(const Request& request, const std::stop_token& stop) {
    const Result<Url> url = parse_url(request.url);
    if (!url) return url.error();
    if (Result<void> checked = check(request, url.value()); !checked) return checked.error();
    const std::string what = title(request, url.value());
    if (!handles_ || !handles_->multi || !handles_->easy)
        return Error{Code::internal, what + ": out of memory"};

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
        const std::string why = reason[0] != '\0' ? reason.data() : curl_easy_strerror(*result);
        return Error{code_of(*result), what + ": " + printable(why)};
    }
    return std::move(transfer.response);
}

Result<Response> fetch(const Request& request, const std::stop_token& stop) {
    return Client().send(request, stop);
}

}  // namespace llmgw::http
