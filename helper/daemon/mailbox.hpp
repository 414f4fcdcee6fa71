// How workers hand results to the event loop: closures that run in the loop's thread, in order.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::daemon {

class Mailbox {
  public:
    static Result<std::unique_ptr<Mailbox>> create();

    // From any thread.
    void post(std::function<void()> letter);
    // Readable while letters wait.
    [[nodiscard]] int fd() const noexcept { return event_.get(); }
    // In the loop's thread: runs what has come so far.
    void deliver();

  private:
    explicit Mailbox(Descriptor event) : event_(std::move(event)) {}

    Descriptor event_;
    std::mutex mutex_;
    std::vector<std::function<void()>> letters_;
};

}  // namespace llmgw::daemon
