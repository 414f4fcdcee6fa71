#include "http/download.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <random>

#include "http/answer_kind.hpp"
#include "http/part_file.hpp"
#include "http/reception.hpp"
#include "http/transfer.hpp"

namespace llmgw::http {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// After so many parts that could not be gone on with, the server isn't asked for parts any more.
constexpr int most_afresh = 3;

Error stopped() {
    return {Code::unavailable, "given up, since this program is stopping"};
}

std::string seconds_text(milliseconds time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

class Downloading {
  public:
    Downloading(const Download& what, PartFile& part, Handles& handles, const std::stop_token& stop)
        : what_(what), part_(part), handles_(handles), stop_(stop) {}

    Result<Downloaded> run();

  private:
    Verdict attempt();
    Verdict request(const std::string& url, std::string& redirected);
    Result<CURLcode> perform(const Url& url, Reception& reception, bool range);
    void note_gain();
    void pause(std::chrono::seconds not_before);
    [[nodiscard]] Error given_up(const Error& last) const;
    [[nodiscard]] milliseconds left() const {
        return std::chrono::duration_cast<milliseconds>(end_ - Clock::now());
    }
    [[nodiscard]] int status() const;

    // libcurl calls these with `this`.
    static std::size_t take_body(char* data, std::size_t, std::size_t size, void* context) {
        auto& self = *static_cast<Downloading*>(context);
        return self.reception_->take_body({data, size}, self.status()) ? size : 0;
    }
    static std::size_t take_header(char* data, std::size_t, std::size_t size, void* context) {
        return static_cast<Downloading*>(context)->reception_->take_header({data, size}) ? size : 0;
    }

    const Download& what_;
    PartFile& part_;
    Handles& handles_;
    const std::stop_token& stop_;
    Reception* reception_ = nullptr;  // of the answer that comes just now
    std::array<char, CURL_ERROR_SIZE> reason_{};
    int afresh_ = 0;
    bool in_one_piece_ = false;
    Clock::time_point end_ = Clock::now() + what_.deadline;
    // The most bytes there ever were: a server that begins again each time gets no further.
    std::uint64_t most_ = part_.size();
    Clock::time_point last_gain_ = Clock::now();
    milliseconds pause_ = what_.first_pause;
    std::minstd_rand random_{std::random_device{}()};
};

Result<Downloaded> Downloading::run() {
    if (part_.size() > 0 && part_.size() == part_.total()) return Downloaded{part_.size(), false};
    for (;;) {
        const Verdict last = attempt();
        if (last.next == Next::done) return Downloaded{part_.size(), in_one_piece_};
        if (last.next == Next::never) return last.error;
        note_gain();
        if (last.next == Next::afresh) {
            if (Result<void> emptied = part_.restart({}, 0); !emptied) return emptied.error();
            if (++afresh_ <= most_afresh) continue;
        }
        const bool too_late = last.not_before > limits::retry_after || last.not_before > left();
        if (last.not_before.count() > 0 && too_late) {
            return Error{last.error.code, last.error.message + ", and asks to be left alone for " +
                                              seconds_text(last.not_before) + ": try again then"};
        }
        // The server's own wish isn't held against it.
        last_gain_ += last.not_before;
        if (left() <= milliseconds(0) || Clock::now() - last_gain_ > what_.patience)
            return given_up(last.error);
        pause(last.not_before);
        if (stop_.stop_requested()) return stopped();
    }
}

Error Downloading::given_up(const Error& last) const {
    const std::string came = std::to_string(most_) + " bytes";
    if (left() <= milliseconds(0)) {
        return {Code::timeout,
                last.message + "; it isn't there after " + seconds_text(what_.deadline) + ", only " + came};
    }
    return {Code::unavailable,
            last.message + "; nothing new came for " + seconds_text(what_.patience) + ", after " + came};
}

void Downloading::note_gain() {
    if (part_.size() <= most_) return;
    most_ = part_.size();
    last_gain_ = Clock::now();
    pause_ = what_.first_pause;
}

// Not the same on two machines, or all nodes would come back to a mirror in the same moment.
void Downloading::pause(std::chrono::seconds not_before) {
    std::uniform_int_distribution<milliseconds::rep> around(pause_.count() / 2, pause_.count() * 3 / 2);
    const milliseconds time =
        std::min(milliseconds(not_before) + milliseconds(around(random_)), std::max(left(), milliseconds(0)));
    pause_ = std::min(pause_ * 2, what_.longest_pause);
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any woken;
    woken.wait_for(lock, stop_, time, [] { return false; });
}

int Downloading::status() const {
    long status = 0;
    curl_easy_getinfo(handles_.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
}

// One request, and those that it is redirected to: always from the first one, since where it leads may be a
// signed URL that holds for minutes only.
Verdict Downloading::attempt() {
    std::string url = what_.url;
    for (int hops = 0; hops <= limits::redirects; ++hops) {
        std::string redirected;
        Verdict verdict = request(url, redirected);
        if (redirected.empty()) return verdict;
        url = std::move(redirected);
    }
    return {Next::never,
            {Code::unavailable, "it is redirected more than " + std::to_string(limits::redirects) + " times"},
            {}};
}

// The verdict counts unless there is a place to go on at.
Verdict Downloading::request(const std::string& url, std::string& redirected) {
    const Result<Url> place = parse_url(url);
    if (!place) return {Next::never, place.error(), {}};
    if (Result<void> reachable = check_reach(place.value()); !reachable)
        return {Next::never, reachable.error(), {}};
    const bool range = part_.size() > 0 && afresh_ < most_afresh;
    Reception reception(what_, part_, range);
    const Result<CURLcode> result = perform(place.value(), reception, range);
    if (!result) return {Next::never, result.error(), {}};
    if (!is_redirect(status())) {
        Verdict verdict = reception.verdict(handles_.easy.get(), result.value(), reason_.data());
        in_one_piece_ = reception.in_one_piece();
        return verdict;
    }
    const char* target = nullptr;
    curl_easy_getinfo(handles_.easy.get(), CURLINFO_REDIRECT_URL, &target);
    Result<std::string> next = followed(url, target == nullptr ? "" : target);
    if (!next) return {Next::never, next.error(), {}};
    redirected = std::move(next).value();
    return {};
}

Result<CURLcode> Downloading::perform(const Url& url, Reception& reception, bool range) {
    CURL* const easy = handles_.easy.get();
    curl_easy_reset(easy);
    reception_ = &reception;
    reason_ = {};
    HeaderList headers;
    // Bytes as they are: what is packed once more on its way has another digest and other ranges.
    bool good = headers.add("Accept-Encoding: identity");
    if (range) {
        good = good && headers.add("Range: bytes=" + std::to_string(part_.size()) + "-");
        if (const std::string condition = part_.validator().condition(); !condition.empty())
            good = good && headers.add("If-Range: " + condition);
    }
    const Reach reach{what_.connect_timeout, std::max(left(), milliseconds(1)), what_.ca_file, what_.proxy};
    good = good && set_reach(easy, url, reach) && set(easy, CURLOPT_ERRORBUFFER, reason_.data()) &&
           set(easy, CURLOPT_LOW_SPEED_LIMIT, what_.slow_bytes_per_second) &&
           set(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(what_.slow_for.count())) &&
           set(easy, CURLOPT_HTTPHEADER, headers.get()) && set(easy, CURLOPT_WRITEFUNCTION, &take_body) &&
           set(easy, CURLOPT_WRITEDATA, this) && set(easy, CURLOPT_HEADERFUNCTION, &take_header) &&
           set(easy, CURLOPT_HEADERDATA, this);
    if (!good) return Error{Code::internal, "libcurl doesn't take an option; is it older than 7.85?"};
    const Membership membership(handles_.multi.get(), easy);
    if (membership.added() != CURLM_OK) return Error{Code::internal, "libcurl has no memory left"};
    const std::optional<CURLcode> result = http::run(handles_.multi.get(), stop_);
    if (!result) return stopped();
    return *result;
}

}  // namespace

Result<Downloaded> download(const Download& what, const std::stop_token& stop) {
    const Result<Url> url = parse_url(what.url);
    if (!url) return url.error();
    const std::string context = title("GET", url.value());
    const std::unique_ptr<Handles> handles = Handles::make();
    if (!handles) return Error{Code::internal, context + ": out of memory"};
    Result<PartFile> part = PartFile::open(what.directory, what.name, {what.url, what.identity});
    if (!part) return part.error().within(context);
    Result<Downloaded> downloaded = Downloading(what, part.value(), *handles, stop).run();
    if (downloaded) return downloaded;
    // What can't be finished, or fills the disk, isn't left behind.
    if (downloaded.error().code == Code::too_large || part.value().full())
        PartFile::remove(what.directory, what.name);
    return downloaded.error().within(context);
}

}  // namespace llmgw::http
