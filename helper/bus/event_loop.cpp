#include "bus/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <list>
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

int on_io(sd_event_source*, int, std::uint32_t, void* data) {
    static_cast<Entry*>(data)->callback();
    return 0;
}

int on_signal_event(sd_event_source*, const signalfd_siginfo*, void* data) {
    static_cast<Entry*>(data)->callback();
    return 0;
}

int on_directory(sd_event_source*, const inotify_event*, void* data) {
    static_cast<Entry*>(data)->callback();
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
    return directory;
}

}  // namespace

struct EventLoop::State {
    std::unique_ptr<sd_event, EventUnref> event;
    std::list<Entry> entries;  // a list: their addresses are in sd-event's hands
    Entry delayed;
    std::list<Entry> watches;
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
    std::vector<std::string> wanted;
    for (const std::string& directory : directories) wanted.push_back(nearest_existing(directory));
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    state_->watches.clear();
    for (const std::string& directory : wanted) {
        Entry& entry = state_->watches.emplace_back(Entry{callback, 0, {}});
        sd_event_source* source = nullptr;
        const int result =
            ::sd_event_add_inotify(raw(), &source, directory.c_str(), entry_changes, on_directory, &entry);
        entry.source.reset(source);
        if (result < 0) return failure("watch " + directory, result);
    }
    return {};
}

int EventLoop::run() {
    return ::sd_event_loop(raw());
}
void EventLoop::exit() {
    ::sd_event_exit(raw(), 0);
}
sd_event* EventLoop::raw() const noexcept {
    return state_->event.get();
}

}  // namespace llmgw::bus
