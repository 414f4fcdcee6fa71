#include "http/transfer.hpp"

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw::http {

std::unique_ptr<Handles> Handles::make() {
    // Before any handle, and once: not every build of libcurl can do it from two threads.
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready != CURLE_OK) return nullptr;
    auto handles = std::make_unique<Handles>();
    return handles->multi && handles->easy ? std::move(handles) : nullptr;
}

bool set_reach(CURL* easy, const Url& url, const Reach& reach) {
    const std::string text = url.text();
    bool done = set(easy, CURLOPT_URL, text.c_str()) && set(easy, CURLOPT_PATH_AS_IS, 1L) &&
                set(easy, CURLOPT_PROTOCOLS_STR, "http,https") && set(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
                set(easy, CURLOPT_NOSIGNAL, 1L) && set(easy, CURLOPT_PROXY, reach.proxy.c_str()) &&
                set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(reach.connect_timeout.count())) &&
                set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(reach.total_timeout.count()));
    done = done && set(easy, CURLOPT_SSL_VERIFYPEER, 1L) && set(easy, CURLOPT_SSL_VERIFYHOST, 2L) &&
           set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    return done && (reach.ca_file.empty() || set(easy, CURLOPT_CAINFO, reach.ca_file.c_str()));
}

Result<void> check_reach(const Url& url) {
    if (url.tls || is_loopback(url.host)) return {};
    return Error{Code::invalid, "plain http is only used towards loopback, and " + shown(url.host) +
                                    " is elsewhere: use an https:// URL"};
}

bool AnswerHead::take(std::string_view line) {
    bytes_ += line.size();
    if (bytes_ > limits::http_answer_head_bytes) return false;
    while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
        // An interim answer (100) may come first; only the last one's headers count.
        headers.clear();
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
    }
    return true;
}

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

std::string reason_of_curl(CURLcode result, const char* buffer) {
    return printable(*buffer != '\0' ? buffer : curl_easy_strerror(result));
}

std::string title(const std::string& method, const Url& url) {
    Url shown = url;
    shown.target = shown.target.substr(0, shown.target.find('?'));
    return method + " " + shown.text();
}

}  // namespace llmgw::http
