// Does to nodes what their leases ask for: one command at a time on each node, some nodes at once, in threads
// of its own, so that the server never waits for a site's programs. What is to be done is always what the
// store says at that moment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/limits.hpp"
#include "leader/lease_store.hpp"
#include "leader/site_commands.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::leader {

class Drainer {
  public:
    // The node's answer changed.
    using News = std::function<void(const std::string& node)>;

    // All outlive the drainer.
    Drainer(LeaseStore& leases, const SiteFile& site, std::chrono::milliseconds longest_pause, News news)
        : leases_(leases), site_(site), longest_pause_(longest_pause), news_(std::move(news)) {}
    ~Drainer() { stop(); }
    Drainer(const Drainer&) = delete;
    Drainer& operator=(const Drainer&) = delete;

    // Ends what runs, which a later leader does again, and begins nothing any more.
    void stop();
    // There may be something else to do on the node; what runs and is not wanted any more is ended.
    void look(const std::string& node);
    // After a start, and when the site's commands changed.
    void look_everywhere();

  private:
    using Clock = std::chrono::steady_clock;
    struct Job {
        bool running = false;
        bool again = false;  // look() came while it ran
        Clock::time_point due;
        std::chrono::milliseconds pause = limits::first_lease_pause;
        LeaseTask task;
        Descriptor stop;
    };

    void schedule(const std::string& node, Job& job, Clock::time_point due);
    void work();
    // True: run it again, after a pause.
    bool run_one(const std::string& node, const LeaseTask& task, const SiteCommands& commands, int stop);
    bool settle(const std::string& node, Result<bool> noted);

    LeaseStore& leases_;
    const SiteFile& site_;
    const std::chrono::milliseconds longest_pause_;
    const News news_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Job> jobs_;
    std::set<std::pair<Clock::time_point, std::string>> agenda_;  // jobs that don't run
    std::vector<std::thread> threads_;
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

}  // namespace llmgw::leader
