#include "bus/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <set>
#include <system_error>

namespace llmgw::bus {
namespace {

constexpr std::uint32_t entry_changes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |
                                        IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

Error failure(const std::string& what, int result) {
    return {Code::internal, "cannot " + what + ": " + std::generic_category().message(-result)};
}

struct EventUnref {
    void operator()(sd_event* event) const { ::sd_event_unref(event); }
};
struct SourceUnref {
    void operator()(sd_event_source* source) const { ::sd_event_source_disable_unref(source); }
};
using Source = std::unique_ptr<sd_event_source, SourceUnref>;

struct Entry {
    EventLoop::Callback callback;
    std::uint64_t every_us = 0;
    Source source;
};

struct Watch {
    std::string directory;
    dev_t device = 0;
    ino_t inode = 0;
    bool gone = false;  // the kernel watches nothing for us any more, or something of another name
    // Every entry counts, or, in a parent of what is not there yet, those by which it would come.
    bool whole = false;
    std::set<std::string> awaited;
    EventLoop::Callback callback;
    Source source;
};

int on_io(sd_event_source*, int, std::uint32_t, void* data) {
    static_cast<Entry*>(data)->callback();
    return 0;
}

int on_signal_event(sd_event_source*, const signalfd_siginfo*, void* data) {
    static_cast<Entry*>(data)->callback();
    return 0;
}

int on_directory(sd_event_source*, const inotify_event* event, void* data) {
    auto* watch = static_cast<Watch*>(data);
    if ((event->mask & (IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)) != 0) watch->gone = true;
    // Whatever else happens there (in /etc, all the time, and by ourselves) is nobody's business.
    if (!watch->whole && event->len > 0 && !watch->awaited.contains(event->name)) return 0;
    // A copy: the callback may end this watch.
    const EventLoop::Callback callback = watch->callback;
    callback();
    return 0;
}

int on_time(sd_event_source* source, std::uint64_t, void* data) {
    auto* entry = static_cast<Entry*>(data);
    if (entry->every_us > 0) {
        ::sd_event_source_set_time_relative(source, entry->every_us);
        ::sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    }
    // A copy: the callback may set this timer anew.
    const EventLoop::Callback callback = entry->callback;
    callback();
    return 0;
}

std::uint64_t microseconds(std::chrono::milliseconds time) {
    return static_cast<std::uint64_t>(std::chrono::microseconds(time).count());
}

std::string nearest_existing(std::string directory) {
    struct stat status {};
    while (directory.size() > 1 && (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
        const std::size_t slash = directory.rfind('/');
        directory = slash == 0 || slash == std::string::npos ? "/" : directory.substr(0, slash);
    }
    return directory.empty() ? "/" : directory;
}

// What is waited for in `nearest`, for the sake of a directory in it or beneath it.
void await(Watch& watch, const std::string& nearest, const std::string& directory) {
    if (nearest == directory) {
        watch.whole = true;
        return;
    }
    const std::size_t begin = nearest == "/" ? 1 : nearest.size() + 1;
    if (begin >= directory.size()) return;  // no path at all
    watch.awaited.insert(directory.substr(begin, directory.find('/', begin) - begin));
}

bool is_of(const Watch& watch, const std::string& directory) {
    struct stat status {};
    return !watch.gone && watch.directory == directory && ::stat(directory.c_str(), &status) == 0 &&
           status.st_dev == watch.device && status.st_ino == watch.inode;
}

}  // namespace

struct EventLoop::State {
    std::unique_ptr<sd_event, EventUnref> event;
    std::list<Entry> entries;  // a list: their addresses are in sd-event's hands
    Entry delayed;
    std::list<Watch> watches;

    Result<void> watch(const std::string& directory, std::list<Watch>& before, const Callback& callback);
    int add_watch(const std::string& directory, const Callback& callback);
};

EventLoop::EventLoop(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventLoop::EventLoop(EventLoop&&) noexcept = default;
EventLoop& EventLoop::operator=(EventLoop&&) noexcept = default;
EventLoop::~EventLoop() = default;

Result<EventLoop> EventLoop::create() {
    sd_event* event = nullptr;
    if (const int result = ::sd_event_new(&event); result < 0) return failure("make an event loop", result);
    auto state = std::make_unique<State>();
    state->event.reset(event);
    if (const int result = ::sd_event_set_watchdog(event, 1); result < 0) {
        return failure("take part in the watchdog", result);
    }
    return EventLoop(std::move(state));
}

Result<void> EventLoop::on_signal(int signal, Callback callback) {
    Entry& entry = state_->entries.emplace_back(Entry{std::move(callback), 0, {}});
    sd_event_source* source = nullptr;
    const int result = ::sd_event_add_signal(raw(), &source, signal, on_signal_event, &entry);
    entry.source.reset(source);
    if (result < 0) return failure("wait for a signal", result);
    return {};
}

Result<void> EventLoop::on_readable(int fd, Callback callback) {
    Entry& entry = state_->entries.emplace_back(Entry{std::move(callback), 0, {}});
    sd_event_source* source = nullptr;
    const int result = ::sd_event_add_io(raw(), &source, fd, EPOLLIN, on_io, &entry);
    entry.source.reset(source);
    if (result < 0) return failure("wait for a descriptor", result);
    return {};
}

Result<void> EventLoop::on_timer(std::chrono::milliseconds every, Callback callback) {
    Entry& entry = state_->entries.emplace_back(Entry{std::move(callback), microseconds(every), {}});
    sd_event_source* source = nullptr;
    const int result =
        ::sd_event_add_time_relative(raw(), &source, CLOCK_BOOTTIME, entry.every_us, 0, on_time, &entry);
    entry.source.reset(source);
    if (result < 0) return failure("set a timer", result);
    return {};
}

Result<void> EventLoop::after(std::chrono::milliseconds delay, Callback callback) {
    Entry& entry = state_->delayed;
    entry.callback = std::move(callback);
    entry.source.reset();
    sd_event_source* source = nullptr;
    const int result =
        ::sd_event_add_time_relative(raw(), &source, CLOCK_BOOTTIME, microseconds(delay), 0, on_time, &entry);
    entry.source.reset(source);
    if (result < 0) return failure("set a timer", result);
    return {};
}

Result<void> EventLoop::watch_directories(const std::vector<std::string>& directories, Callback callback) {
    // What is watched already stays so: an event that waits in the kernel would be lost with its watch.
    std::list<Watch> before;
    before.swap(state_->watches);
    Result<void> outcome;
    for (const std::string& directory : directories) {
        if (Result<void> watched = state_->watch(directory, before, callback); !watched) outcome = watched;
    }
    return outcome;
}

Result<void> EventLoop::State::watch(const std::string& directory, std::list<Watch>& before,
                                     const Callback& callback) {
    // Each parent may come or go while we look.
    constexpr int attempts = 10;
    int result = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::string nearest = nearest_existing(directory);
        const auto is_this = [&](const Watch& watch) { return is_of(watch, nearest); };
        const auto had = std::find_if(watches.begin(), watches.end(), is_this);
        if (had != watches.end()) {
            await(*had, nearest, directory);
            return {};
        }
        const auto known = std::find_if(before.begin(), before.end(), is_this);
        if (known != before.end()) {
            known->callback = callback;
            known->whole = false;
            known->awaited.clear();
            await(*known, nearest, directory);
            watches.splice(watches.end(), before, known);
            return {};
        }
        result = add_watch(nearest, callback);
        if (result >= 0) await(watches.back(), nearest, directory);
        if (result >= 0 && nearest_existing(directory) == nearest && is_of(watches.back(), nearest))
            return {};
        if (result >= 0) watches.pop_back();
    }
    return failure("watch " + directory, result < 0 ? result : -EAGAIN);
}

int EventLoop::State::add_watch(const std::string& directory, const Callback& callback) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) return -errno;
    Watch& watch = watches.emplace_back();
    watch.directory = directory;
    watch.device = status.st_dev;
    watch.inode = status.st_ino;
    watch.callback = callback;
    sd_event_source* source = nullptr;
    const int result =
        ::sd_event_add_inotify(event.get(), &source, directory.c_str(), entry_changes, on_directory, &watch);
    watch.source.reset(source);
    if (result < 0) watches.pop_back();
    return result;
}

int EventLoop::run() {
    // sd-bus ends the loop with a positive code when its connection is lost.
    const int result = ::sd_event_loop(raw());
    return result > 0 ? -ECONNRESET : result;
}
void EventLoop::exit() {
    ::sd_event_exit(raw(), 0);
}
sd_event* EventLoop::raw() const noexcept {
    return state_->event.get();
}

}  // namespace llmgw::bus
