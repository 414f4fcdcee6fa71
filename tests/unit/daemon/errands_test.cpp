#include "daemon/errands.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "unit/temporary.hpp"

namespace llmgw::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Errands, are_done_one_after_another_in_their_order) {
    std::vector<int> done;
    std::promise<void> last;
    Errands errands;
    for (int i = 0; i < 100; ++i) errands.submit([&, i](const std::stop_token&) { done.push_back(i); });
    errands.submit([&](const std::stop_token&) { last.set_value(); });
    last.get_future().wait();
    EXPECT_EQ(done.size(), 100U);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(Errands, come_from_many_threads) {
    std::atomic<int> done{0};
    Errands errands;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 200; ++j) errands.submit([&](const std::stop_token&) { ++done; });
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(test::eventually([&] { return done == 1600; }));
}

TEST(Errands, may_submit_others) {
    std::promise<int> result;
    Errands errands;
    errands.submit([&](const std::stop_token&) {
        errands.submit([&](const std::stop_token&) { result.set_value(7); });
    });
    EXPECT_EQ(result.get_future().get(), 7);
}

TEST(Errands, under_way_are_asked_to_stop_and_waited_for_and_others_dropped) {
    std::atomic<bool> started{false};
    bool stopped = false;
    std::atomic<int> others{0};
    const Clock::time_point start = Clock::now();
    {
        Errands errands;
        errands.submit([&](const std::stop_token& stop) {
            started = true;
            stopped = !pause(stop, 60s);
        });
        for (int i = 0; i < 10; ++i) errands.submit([&](const std::stop_token&) { ++others; });
        EXPECT_TRUE(test::eventually([&] { return started.load(); }));
    }
    EXPECT_TRUE(stopped);
    EXPECT_EQ(others, 0);
    EXPECT_LT(Clock::now() - start, 30s);
}

TEST(Errands, end_at_once_without_work) {
    for (int i = 0; i < 100; ++i) Errands errands;
}

TEST(Pause, lasts_unless_it_is_stopped) {
    std::stop_source stop;
    const Clock::time_point start = Clock::now();
    EXPECT_TRUE(pause(stop.get_token(), 20ms));
    EXPECT_GE(Clock::now() - start, 20ms);
    std::jthread stopping([&] { stop.request_stop(); });
    EXPECT_FALSE(pause(stop.get_token(), 60s));
    EXPECT_FALSE(pause(stop.get_token(), 60s));
    EXPECT_LT(Clock::now() - start, 30s);
}

}  // namespace
}  // namespace llmgw::daemon
