#include "bus/event_loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "unit/bus/support.hpp"

namespace llmgw::bus {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::eventually;

class Loop : public testing::Test {
  protected:
    EventLoop loop_ = EventLoop::create().value();
};

TEST_F(Loop, runs_timers_again_and_again) {
    int ticks = 0;
    ASSERT_TRUE(loop_
                    .on_timer(5ms,
                              [&] {
                                  if (++ticks == 3) loop_.exit();
                              })
                    .ok());
    EXPECT_EQ(loop_.run(), 0);
    EXPECT_EQ(ticks, 3);
}

TEST_F(Loop, calls_back_once_after_a_while) {
    int calls = 0;
    ASSERT_TRUE(loop_.after(5ms, [&] { ++calls; }).ok());
    ASSERT_TRUE(loop_.on_timer(50ms, [&] { loop_.exit(); }).ok());
    EXPECT_EQ(loop_.run(), 0);
    EXPECT_EQ(calls, 1);
}

TEST_F(Loop, makes_one_callback_of_a_burst) {
    int first = 0;
    int last = 0;
    const Clock::time_point start = Clock::now();
    ASSERT_TRUE(loop_.after(10ms, [&] { ++first; }).ok());
    ASSERT_TRUE(loop_
                    .after(60ms,
                           [&] {
                               ++last;
                               loop_.exit();
                           })
                    .ok());
    EXPECT_EQ(loop_.run(), 0);
    EXPECT_GE(Clock::now() - start, 60ms);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(last, 1);
}

TEST_F(Loop, may_be_asked_again_from_within_a_callback) {
    int calls = 0;
    const std::string big(1000, 'x');  // in the closure: must live while it runs
    std::function<void()> again = [&, big] {
        if (++calls == 5) return loop_.exit();
        EXPECT_TRUE(loop_.after(1ms, again).ok());
        EXPECT_EQ(big, std::string(1000, 'x'));
    };
    ASSERT_TRUE(loop_.after(1ms, again).ok());
    EXPECT_EQ(loop_.run(), 0);
    EXPECT_EQ(calls, 5);
}

TEST_F(Loop, gets_signals) {
    sigset_t signals;
    sigset_t before;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before);
    int got = 0;
    ASSERT_TRUE(loop_
                    .on_signal(SIGUSR2,
                               [&] {
                                   ++got;
                                   loop_.exit();
                               })
                    .ok());
    ::pthread_kill(::pthread_self(), SIGUSR2);
    EXPECT_EQ(loop_.run(), 0);
    EXPECT_EQ(got, 1);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(Loop, says_when_a_signal_is_not_blocked) {
    EXPECT_FALSE(loop_.on_signal(SIGUSR1, [] {}).ok());
}

class Watches : public testing::Test {
  protected:
    void SetUp() override { thread_.start(); }
    // Replaces the watches; each change counts.
    void watch(const std::vector<std::string>& directories) {
        const Result<void> done = thread_.in_loop(
            [&] { return thread_.loop().watch_directories(directories, [this] { ++changes_; }); });
        EXPECT_TRUE(done.ok()) << done.error().message;
    }
    // Whether `act` is noticed.
    bool notices(const std::function<void()>& act) {
        settle();
        const int before = changes_;
        act();
        return eventually([&] { return changes_ > before; });
    }
    // Until events of earlier acts are through.
    void settle() {
        for (int i = 0; i < 3; ++i) thread_.in_loop([] { return 0; });
    }
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    void write(const std::string& name) const { std::ofstream(at(name)) << "x"; }

    test::TemporaryDirectory directory_;
    std::atomic<int> changes_{0};
    test::LoopThread thread_;
};

TEST_F(Watches, notice_what_happens_to_files) {
    watch({directory_.path()});
    EXPECT_TRUE(notices([&] { write("a"); }));
    EXPECT_TRUE(notices([&] { std::ofstream(at("a"), std::ios::app) << "more"; }));
    EXPECT_TRUE(notices([&] { fs::rename(at("a"), at("b")); }));
    EXPECT_TRUE(notices([&] { ::chmod(at("b").c_str(), 0600); }));
    EXPECT_TRUE(notices([&] { fs::create_symlink("b", at("c")); }));
    EXPECT_TRUE(notices([&] { fs::remove(at("b")); }));
}

TEST_F(Watches, wait_for_a_directory_that_is_not_there_yet) {
    watch({at("x/y/z")});
    EXPECT_TRUE(notices([&] { fs::create_directory(at("x")); }));
    watch({at("x/y/z")});
    EXPECT_TRUE(notices([&] { fs::create_directories(at("x/y/z")); }));
    watch({at("x/y/z")});
    EXPECT_TRUE(notices([&] { write("x/y/z/file"); }));
}

// A helper that looks again at whatever happens in /etc makes something happen there by looking.
TEST_F(Watches, see_in_a_parent_only_what_they_wait_for) {
    watch({at("x/y"), at("z")});
    write("other");
    fs::create_directory(at("xx"));
    settle();
    EXPECT_EQ(changes_, 0);
    EXPECT_TRUE(notices([&] { fs::create_directory(at("z")); }));
    watch({at("x/y"), at("z")});
    EXPECT_TRUE(notices([&] { fs::create_directory(at("x")); }));
    watch({at("x/y"), directory_.path()});
    EXPECT_TRUE(notices([&] { write("other"); }));
}

TEST_F(Watches, notice_that_a_directory_goes_and_comes_again) {
    fs::create_directory(at("x"));
    watch({at("x")});
    EXPECT_TRUE(notices([&] { fs::remove(at("x")); }));
    watch({at("x")});
    EXPECT_TRUE(notices([&] { fs::create_directory(at("x")); }));
    watch({at("x")});
    EXPECT_TRUE(notices([&] { write("x/file"); }));
    EXPECT_TRUE(notices([&] { fs::rename(at("x"), at("other")); }));
    fs::create_directory(at("x"));
    watch({at("x")});
    EXPECT_TRUE(notices([&] { write("x/file"); }));
}

TEST_F(Watches, see_a_replaced_directory_as_another) {
    fs::create_directory(at("x"));
    watch({at("x")});
    fs::create_directory(at("new"));
    fs::rename(at("x"), at("old"));
    fs::rename(at("new"), at("x"));
    watch({at("x")});
    EXPECT_TRUE(notices([&] { write("x/file"); }));
}

TEST_F(Watches, end_when_they_are_replaced) {
    fs::create_directory(at("x"));
    fs::create_directory(at("y"));
    watch({at("x"), at("x"), at("y")});
    watch({at("y")});
    write("x/file");
    settle();
    EXPECT_EQ(changes_, 0);
    EXPECT_TRUE(notices([&] { write("y/file"); }));
}

TEST_F(Watches, may_be_replaced_from_within_their_callback) {
    fs::create_directory(at("x"));
    fs::create_directory(at("y"));
    std::promise<std::string> seen;
    const std::string big(1000, 'x');
    EXPECT_TRUE(thread_.in_loop([&] {
        return thread_.loop()
            .watch_directories({at("x")},
                               [&, big] {
                                   const Result<void> watched =
                                       thread_.loop().watch_directories({at("y")}, [this] { ++changes_; });
                                   EXPECT_TRUE(watched.ok());
                                   seen.set_value(big);  // this closure must still be there
                               })
            .ok();
    }));
    write("x/file");
    EXPECT_EQ(seen.get_future().get(), big);
    EXPECT_TRUE(notices([&] { write("y/file"); }));
}

// An event that waits in the kernel while the same directory is watched again is still an event.
TEST_F(Watches, lose_nothing_when_the_same_directory_is_watched_again) {
    for (int i = 0; i < 20; ++i) {
        watch({directory_.path()});
        settle();
        const int before = changes_;
        thread_.in_loop([&] {
            write("file");
            return thread_.loop()
                .watch_directories({directory_.path(), at("none")}, [this] { ++changes_; })
                .ok();
        });
        EXPECT_TRUE(eventually([&] { return changes_ > before; }));
    }
}

TEST_F(Watches, of_what_is_there_work_although_another_cannot_be_watched) {
    write("file");
    fs::create_directory(at("x"));
    const std::string endless(5000, 'n');
    watch({at("file/below"), at("x"), "/" + endless, ""});
    EXPECT_TRUE(notices([&] { write("x/file"); }));
}

}  // namespace
}  // namespace llmgw::bus
