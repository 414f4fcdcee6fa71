#include "http/reception.hpp"

#include <algorithm>

#include "http/answer_kind.hpp"

namespace llmgw::http {
namespace {

Verdict never(Error error) {
    return {Next::never, std::move(error), {}};
}

Verdict again(Error error) {
    return {Next::again, std::move(error), {}};
}

Verdict afresh(std::string because) {
    return {Next::afresh, {Code::unavailable, std::move(because)}, {}};
}

// What another try won't change.
bool is_final(CURLcode result) {
    switch (result) {
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_OUT_OF_MEMORY:
        case CURLE_FAILED_INIT:
            return true;
        default:
            return false;
    }
}

int status_of(CURL* easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
}

}  // namespace

bool Reception::take_header(std::string_view line) {
    if (head_.take(line)) return true;
    head_too_large_ = true;
    return false;
}

bool Reception::take_body(std::string_view piece, int status) {
    // libcurl says where a redirect leads only if it came to its end.
    if (is_redirect(status)) return (dropped_ += piece.size()) <= limits::http_dropped_bytes;
    if (status != 200 && status != 206) return false;  // a page for people
    if (!begun_ && !begin(status)) return false;
    if (end_ > 0 && piece.size() > end_ - part_.size())
        return refuse(afresh("the server sent more than it had said"));
    if (piece.size() > what_.max_bytes - part_.size()) {
        return refuse(
            never({Code::too_large, "it has more than " + std::to_string(what_.max_bytes) + " bytes"}));
    }
    if (Result<void> written = part_.append(piece); !written) return refuse(never(written.error()));
    if (what_.progress) what_.progress(part_.size(), part_.total());
    return true;
}

bool Reception::refuse(Verdict because) {
    refused_ = std::move(because);
    return false;
}

// Before the first byte of a body is written.
bool Reception::begin(int status) {
    begun_ = true;
    return status == 200 ? begin_whole() : begin_range();
}

bool Reception::begin_whole() {
    const auto total = parse_length(field("Content-Length"));
    // All of it comes again, so what is there gives its space back.
    if (Result<void> emptied = part_.restart({}, 0); !emptied) return refuse(never(emptied.error()));
    if (!admit(total)) return false;
    end_ = total.value_or(0);
    const Validator validator{field("ETag"), field("Last-Modified")};
    if (Result<void> noted = part_.restart(validator, end_); !noted) return refuse(never(noted.error()));
    return true;
}

bool Reception::begin_range() {
    if (!asked_for_range_) {
        return refuse(
            never({Code::unavailable, "the server sends a part (206), and the whole was asked for"}));
    }
    const auto range = parse_content_range(field("Content-Range"));
    if (!range || range->first != part_.size())
        return refuse(afresh("the server sent another part than it was asked for"));
    const bool other_total = part_.total() > 0 && range->total && *range->total != part_.total();
    if (other_total || !part_.validator().may_be({field("ETag"), field("Last-Modified")}))
        return refuse(afresh("the file there has changed meanwhile"));
    if (range->total) part_.know_total(*range->total);
    end_ = range->last + 1;
    return admit(range->total);
}

bool Reception::admit(std::optional<std::uint64_t> total) {
    if (total && *total > what_.max_bytes) {
        return refuse(
            never({Code::too_large, "it has " + std::to_string(*total) + " bytes, and no more than " +
                                        std::to_string(what_.max_bytes) + " are taken"}));
    }
    if (!what_.admit) return true;
    std::optional<std::uint64_t> missing;
    if (total) missing = *total - part_.size();
    if (Result<void> admitted = what_.admit(missing); !admitted) return refuse(never(admitted.error()));
    return true;
}

Verdict Reception::verdict(CURL* easy, CURLcode result, const char* reason) {
    if (head_too_large_) return never({Code::too_large, "the answer's headers have no end"});
    if (refused_) return *refused_;
    const int status = status_of(easy);
    if (status == 200 || status == 206) {
        // An empty body brings no piece.
        if (result == CURLE_OK && !begun_ && !begin(status)) return *refused_;
        return ended(easy, result, reason);
    }
    if (status == 416) return unsatisfied();
    if (status < 200) return ended(easy, result == CURLE_OK ? CURLE_GOT_NOTHING : result, reason);
    if (!is_passing(status)) return never(refusal_of(status));
    curl_off_t wait = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
    return {Next::again, refusal_of(status), std::chrono::seconds(std::max<curl_off_t>(wait, 0))};
}

// The answer was taken as far as it came.
Verdict Reception::ended(CURL* easy, CURLcode result, const char* reason) {
    if (result != CURLE_OK) {
        Error error{code_of(result), reason_of_curl(result, reason)};
        if (result == CURLE_PEER_FAILED_VERIFICATION)
            error.message += ": is this machine's clock right, and does it know that authority?";
        return is_final(result) ? never(std::move(error)) : again(std::move(error));
    }
    const std::uint64_t total = part_.total();
    if (total > 0 && part_.size() < total) {
        return again({Code::unavailable, "the answer ended after " + std::to_string(part_.size()) + " of " +
                                             std::to_string(total) + " bytes"});
    }
    long version = 0;
    curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
    const bool end_was_announced = version >= CURL_HTTP_VERSION_2_0 || !field("Content-Length").empty() ||
                                   !field("Transfer-Encoding").empty();
    in_one_piece_ = status_of(easy) == 200 && end_was_announced;
    return {Next::done, {}, {}};
}

// 416: what we have is all there is, or isn't a beginning of it.
Verdict Reception::unsatisfied() {
    if (!asked_for_range_) return never(refusal_of(416));
    const auto total = parse_unsatisfied_range(field("Content-Range"));
    if (total && *total == part_.size()) return {Next::done, {}, {}};
    return afresh("the server has no bytes behind the " + std::to_string(part_.size()) + " that came");
}

}  // namespace llmgw::http
