#include "daemon/errands.hpp"

namespace llmgw::daemon {

Errands::Errands() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

Errands::~Errands() {
    thread_.request_stop();
    thread_.join();
}

void Errands::submit(Errand errand) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(errand));
    }
    changed_.notify_one();
}

void Errands::work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Errand next;
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
            next = std::move(queue_.front());
            queue_.pop_front();
        }
        next(stop);
    }
}

bool pause(const std::stop_token& stop, std::chrono::milliseconds time) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

}  // namespace llmgw::daemon
