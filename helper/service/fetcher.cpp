#include "service/fetcher.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/limits.hpp"
#include "service/cache.hpp"
#include "service/fetch_file.hpp"
#include "service/fetch_origin.hpp"

namespace llmgw::service {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds lock_pause{200};
constexpr milliseconds progress_pause{200};

struct Wanted {
    PinnedFile file;
    FetchOrigin origin;
};

// Runs all of them, a few at a time, and tells how far they are.
class Crew {
  public:
    Crew(const Cache& cache, const FetchOptions& options, Clock::time_point end, std::vector<Wanted> wanted)
        : cache_(cache), options_(options), end_(end), wanted_(std::move(wanted)), state_(wanted_.size()) {}

    Result<void> run(const FetchProgress& progress, const std::stop_token& stop);

  private:
    void work();
    void tell(const FetchProgress& progress);

    const Cache& cache_;
    const FetchOptions& options_;
    Clock::time_point end_;
    std::vector<Wanted> wanted_;
    FetchState state_;
    std::stop_source stop_;
    std::pair<std::uint64_t, std::uint64_t> told_{0, 0};

    std::mutex mutex_;
    std::condition_variable ended_;
    std::size_t next_ = 0;
    std::size_t workers_ = 0;
    std::optional<Error> error_;  // the first one: the others only follow from it
};

Result<void> Crew::run(const FetchProgress& progress, const std::stop_token& stop) {
    const std::stop_callback pass_on(stop, [this] { stop_.request_stop(); });
    std::vector<std::jthread> threads;
    workers_ = std::min(wanted_.size(), limits::downloads_at_once);
    for (std::size_t i = workers_; i > 0; --i) threads.emplace_back([this] { work(); });
    {
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, progress_pause, [this] { return workers_ == 0; })) {
            lock.unlock();
            tell(progress);
            lock.lock();
        }
    }
    threads.clear();
    tell(progress);
    if (error_) return *error_;
    return {};
}

void Crew::work() {
    std::unique_lock lock(mutex_);
    while (next_ < wanted_.size() && !error_) {
        const std::size_t index = next_++;
        lock.unlock();
        const Wanted& wanted = wanted_[index];
        const Result<void> fetched = fetch_file(
            {wanted.file, wanted.origin, index, cache_, options_, end_, state_}, stop_.get_token());
        lock.lock();
        if (fetched) continue;
        if (!error_) error_ = fetched.error();
        stop_.request_stop();
    }
    --workers_;
    ended_.notify_all();
}

void Crew::tell(const FetchProgress& progress) {
    std::pair<std::uint64_t, std::uint64_t> now{0, 0};
    bool some_known = false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        const std::uint64_t done = state_.done[i];
        const std::uint64_t total = state_.total[i];
        now.first += done;
        now.second += std::max(done, total);
        some_known = some_known || total > 0;
    }
    if (!some_known) now.second = 0;
    if (now == told_ || !progress) return;
    told_ = now;
    progress(now.first, now.second);
}

// Of the files that are not there yet, each once.
Result<std::vector<Wanted>> wanted_of(const std::vector<PinnedFile>& files, const FetchOptions& options) {
    std::vector<Wanted> wanted;
    for (const PinnedFile& file : files) {
        Result<FetchOrigin> origin = origin_of(file, options.mirror);
        if (!origin) return origin.error();
        const auto same = std::find_if(wanted.begin(), wanted.end(),
                                       [&](const Wanted& other) { return other.file.name == file.name; });
        if (same == wanted.end()) {
            wanted.push_back({file, std::move(origin).value()});
        } else if (same->file != file) {
            return Error{Code::invalid, file.name + " is pinned twice, and not to the same"};
        }
    }
    return wanted;
}

void leave_out_what_is_there(std::vector<Wanted>& wanted, const Cache& cache) {
    std::erase_if(wanted, [&](const Wanted& one) { return cache.has(one.file); });
}

Result<Descriptor> wait_for_lock(const Cache& cache, Clock::time_point end, const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock guard(mutex);
    std::condition_variable_any woken;
    for (;;) {
        Result<Descriptor> lock = cache.lock();
        if (lock || lock.error().code != Code::conflict) return lock;
        if (Clock::now() > end) {
            return Error{Code::timeout, "another process has been fetching into " + cache.path() +
                                            " all the time: is it stuck?"};
        }
        woken.wait_for(guard, stop, lock_pause, [] { return false; });
        if (stop.stop_requested())
            return Error{Code::unavailable, "given up, since this program is stopping"};
    }
}

}  // namespace

Result<void> fetch_pinned(const std::vector<PinnedFile>& files, const FetchOptions& options,
                          const FetchProgress& progress, const std::stop_token& stop) {
    const Clock::time_point end = Clock::now() + options.deadline;
    Result<std::vector<Wanted>> wanted = wanted_of(files, options);
    if (!wanted) return wanted.error();
    if (wanted.value().empty()) return {};
    const Result<Cache> cache = Cache::open_or_make(options.cache);
    if (!cache) return cache.error();
    leave_out_what_is_there(wanted.value(), cache.value());
    if (wanted.value().empty()) return {};
    const Result<Descriptor> lock = wait_for_lock(cache.value(), end, stop);
    if (!lock) return lock.error();
    // Whoever had the lock may have brought them.
    leave_out_what_is_there(wanted.value(), cache.value());
    if (wanted.value().empty()) return {};
    return Crew(cache.value(), options, end, std::move(wanted).value()).run(progress, stop);
}

std::string cached_path(const FetchOptions& options, const PinnedFile& file) {
    return options.cache + "/" + file.name;
}

bool is_cached(const FetchOptions& options, const PinnedFile& file) {
    if (!is_pinned_name(file.name)) return false;
    const Result<Cache> cache = Cache::open(options.cache);
    return cache && cache.value().has(file);
}

}  // namespace llmgw::service
