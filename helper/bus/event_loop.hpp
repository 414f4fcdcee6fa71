// sd-event: the helper's main loop. Callbacks run one at a time in the thread that runs the loop and must not
// block; what takes time goes to a worker (daemon/errands.hpp).
#pragma once

#include <systemd/sd-event.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace llmgw::bus {

class EventLoop {
  public:
    using Callback = std::function<void()>;

    // Takes part in systemd's watchdog when the unit has one.
    static Result<EventLoop> create();
    EventLoop(EventLoop&&) noexcept;
    EventLoop& operator=(EventLoop&&) noexcept;
    ~EventLoop();

    // The signal must be blocked in every thread.
    Result<void> on_signal(int signal, Callback callback);
    // While `fd` can be read. The callback must read it, or it is called again at once.
    Result<void> on_readable(int fd, Callback callback);
    // Again and again, first after `every`.
    Result<void> on_timer(std::chrono::milliseconds every, Callback callback);
    // Once, `after` from now; a call while one waits moves it. Bursts of events become one callback.
    Result<void> after(std::chrono::milliseconds delay, Callback callback);
    // Replaces the directories that are watched for changes of their entries; one that stays loses no event.
    // One that does not exist is watched through its nearest parent that does. An error is about the last one
    // that can't be watched; the others are.
    Result<void> watch_directories(const std::vector<std::string>& directories, Callback callback);

    // Until exit(), or until a bus connection that it serves is lost. Returns 0 or a negative errno.
    int run();
    void exit();
    [[nodiscard]] sd_event* raw() const noexcept;

  private:
    struct State;
    explicit EventLoop(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace llmgw::bus
