// A thread that does one thing after another, so that the event loop never waits for a program or the
// network.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace llmgw::daemon {

class Errands {
  public:
    using Errand = std::function<void(const std::stop_token&)>;

    Errands();
    ~Errands();  // asks the errand under way to stop, waits for it, drops the others

    void submit(Errand errand);

  private:
    void work(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Errand> queue_;
    std::jthread thread_;  // last: it uses all the others
};

// Until `stop` or the time is over; false when stopped.
bool pause(const std::stop_token& stop, std::chrono::milliseconds time);

}  // namespace llmgw::daemon
