#include "daemon/mailbox.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>

namespace llmgw::daemon {
namespace {

bool readable(const Mailbox& mailbox) {
    pollfd waiting{mailbox.fd(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
}

class Letters : public testing::Test {
  protected:
    std::unique_ptr<Mailbox> mailbox_ = Mailbox::create().value();
};

TEST_F(Letters, are_delivered_once_and_in_order) {
    std::string seen;
    EXPECT_FALSE(readable(*mailbox_));
    for (const char letter : {'a', 'b', 'c'}) mailbox_->post([&seen, letter] { seen += letter; });
    EXPECT_TRUE(readable(*mailbox_));
    EXPECT_EQ(seen, "");
    mailbox_->deliver();
    EXPECT_EQ(seen, "abc");
    EXPECT_FALSE(readable(*mailbox_));
    mailbox_->deliver();
    EXPECT_EQ(seen, "abc");
}

// Or a letter that posts itself would keep the loop from everything else.
TEST_F(Letters, that_are_posted_from_letters_wait_for_the_next_delivery) {
    int runs = 0;
    std::function<void()> again = [&] {
        ++runs;
        mailbox_->post(again);
    };
    mailbox_->post(again);
    mailbox_->deliver();
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(readable(*mailbox_));
    mailbox_->deliver();
    EXPECT_EQ(runs, 2);
}

TEST_F(Letters, from_many_threads_all_arrive) {
    constexpr int threads = 8;
    constexpr int each = 500;
    std::atomic<int> sending{threads};
    int got = 0;
    std::vector<std::thread> senders;
    for (int i = 0; i < threads; ++i) {
        senders.emplace_back([&] {
            for (int j = 0; j < each; ++j) mailbox_->post([&got] { ++got; });
            --sending;
        });
    }
    while (sending > 0) mailbox_->deliver();
    for (std::thread& sender : senders) sender.join();
    mailbox_->deliver();
    EXPECT_EQ(got, threads * each);
}

TEST_F(Letters, that_nobody_took_go_with_the_mailbox) {
    const auto held = std::make_shared<int>(1);
    mailbox_->post([held] { FAIL(); });
    EXPECT_EQ(held.use_count(), 2);
    mailbox_.reset();
    EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace llmgw::daemon
