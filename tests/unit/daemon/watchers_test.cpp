#include "daemon/watchers.hpp"

#include <atomic>
#include <deque>

#include "core/limits.hpp"
#include "http/server.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::daemon {
namespace {

using namespace std::chrono_literals;
using test::eventually;

// A leader that says whatever the test wants, and counts how often it is asked.
class Liar : public http::Handler {
  public:
    std::variant<http::Answer, std::size_t> admit(const http::Incoming&) override { return 16'000U; }
    std::variant<http::Answer, http::Wait> answer(const http::Incoming& request) override {
        ++asked;
        const std::string known = http::header(request.headers, "If-None-Match");
        const std::lock_guard lock(mutex_);
        if (silent && !request.waited) return http::Wait{0, 60s};
        if (!known.empty() && always_304) return http::Answer{304, nullptr, {}};
        return http::json_answer(status_, body_);
    }
    void say(int status, const std::string& body) {
        const std::lock_guard lock(mutex_);
        status_ = status;
        body_ = body;
    }
    std::atomic<int> asked{0};
    std::atomic<bool> always_304{false};
    std::atomic<bool> silent{false};

  private:
    std::mutex mutex_;
    int status_ = 200;
    std::string body_;
};

constexpr const char* good = R"({"revision":3,"settings":{"enabled":true,"controller":"n1"}})";

class Watching : public testing::Test {
  protected:
    void SetUp() override {
        leader::write_text(directory_.file("token"), "t\n");
        ::chmod(directory_.file("token").c_str(), 0600);
        Result<http::Server> started = http::Server::start({}, liar_);
        ASSERT_TRUE(started.ok());
        server_.emplace(std::move(started).value());
        address_ = {"http://127.0.0.1:" + std::to_string(server_->port()), directory_.file("token"), "", ""};
    }
    void watch() {
        watcher_.emplace(address_, *mailbox_, [this](Result<service::LeaderSettings> answer) {
            answers_.push_back(std::move(answer));
        });
    }
    // The next answer that was posted and is one of these.
    Result<service::LeaderSettings> next(
        const std::function<bool(const Result<service::LeaderSettings>&)>& wanted) {
        std::optional<Result<service::LeaderSettings>> found;
        const bool came = eventually([&] {
            mailbox_->deliver();
            while (!answers_.empty() && !found) {
                if (wanted(answers_.front())) found = std::move(answers_.front());
                answers_.pop_front();
            }
            return found.has_value();
        });
        EXPECT_TRUE(came);
        return came ? std::move(*found) : Result<service::LeaderSettings>(Error{Code::internal, "none"});
    }
    std::string next_controller() {
        const auto answer = next([](const auto& each) { return each.ok(); });
        return answer ? answer.value().settings.controller : "none";
    }
    Error next_error() {
        return next([](const auto& each) { return !each.ok(); }).error();
    }
    // Requests in a while in which nothing is new.
    int asked_within(std::chrono::milliseconds time) {
        const int before = liar_.asked;
        ::poll(nullptr, 0, static_cast<int>(time.count()));
        return liar_.asked - before;
    }
    test::TemporaryDirectory directory_;
    Liar liar_;
    std::unique_ptr<Mailbox> mailbox_ = Mailbox::create().value();
    std::deque<Result<service::LeaderSettings>> answers_;
    service::LeaderAddress address_;
    std::optional<http::Server> server_;
    std::optional<SettingsWatcher> watcher_;
};

TEST_F(Watching, posts_each_answer_and_each_error) {
    liar_.say(200, good);
    watch();
    EXPECT_EQ(next_controller(), "n1");
    liar_.say(500, R"({"error":"disk full"})");
    EXPECT_EQ(next_error(), (Error{Code::unavailable, "the leader answered 500: disk full"}));
    liar_.say(200, R"({"revision":4,"settings":{"enabled":true,"controller":"n2"}})");
    EXPECT_EQ(next_controller(), "n2");
}

// No leader may make its helpers spin, whatever it says.
TEST_F(Watching, does_not_hurry_a_leader_that_answers_revision_0) {
    liar_.say(200, R"({"revision":0,"settings":{"enabled":false}})");
    watch();
    next_controller();
    EXPECT_LE(asked_within(2s), 5);
}

TEST_F(Watching, does_not_hurry_a_leader_that_never_waits) {
    liar_.say(200, good);
    watch();
    next_controller();
    EXPECT_LE(asked_within(2s), 5);
}

TEST_F(Watching, does_not_hurry_a_leader_that_always_says_nothing_changed) {
    liar_.say(200, good);
    liar_.always_304 = true;
    watch();
    next_controller();
    EXPECT_LE(asked_within(2s), 5);
    liar_.say(304, "");
    next_error();
    EXPECT_LE(asked_within(2s), 5);
}

TEST_F(Watching, does_not_spin_without_a_token) {
    std::filesystem::remove(address_.token_file);
    watch();
    const Error error = next_error();
    EXPECT_NE(error.message.find(address_.token_file), std::string::npos) << error.message;
    EXPECT_EQ(liar_.asked, 0);
    // And goes on once it is there.
    liar_.say(200, good);
    leader::write_text(address_.token_file, "t\n");
    ::chmod(address_.token_file.c_str(), 0600);
    EXPECT_EQ(next_controller(), "n1");
    EXPECT_GT(liar_.asked, 0);
}

TEST_F(Watching, gets_over_wrong_answers_and_lost_connections) {
    for (const char* body : {"", "[]", "{\"revision\":1}"}) {
        liar_.say(200, body);
        watch();
        EXPECT_EQ(next_error().code, Code::invalid) << body;
    }
    const std::uint16_t port = server_->port();
    server_.reset();
    const auto lost =
        next([](const auto& each) { return !each.ok() && each.error().code == Code::unavailable; });
    EXPECT_FALSE(lost.ok());
    liar_.say(200, good);
    http::ServerOptions options;
    options.port = port;
    server_.emplace(http::Server::start(options, liar_).value());
    EXPECT_EQ(next_controller(), "n1");
}

TEST_F(Watching, ends_at_once_although_the_leader_is_silent) {
    liar_.silent = true;
    watch();
    EXPECT_TRUE(eventually([&] { return liar_.asked > 0; }));
    const auto start = std::chrono::steady_clock::now();
    watcher_.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    mailbox_->deliver();
    EXPECT_TRUE(answers_.empty());
    liar_.silent = false;
}

TEST_F(Watching, ends_at_once_from_within_a_pause) {
    liar_.say(500, "");
    watch();
    next_error();
    const auto start = std::chrono::steady_clock::now();
    watcher_.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

class WithLeader : public leader::LeaderFixture {
  protected:
    void SetUp() override {
        leader::write_text(directory.file("settings.json"), leader::some_settings);
        start();
        address_ = {"http://127.0.0.1:" + std::to_string(leader->port()), directory.file("token.machine"),
                    directory.file("token.admin"), ""};
    }
    void deliver_until(const std::function<bool()>& holds) {
        EXPECT_TRUE(eventually([&] {
            mailbox_->deliver();
            return holds();
        }));
    }
    service::LeaderAddress address_;
    std::unique_ptr<Mailbox> mailbox_ = Mailbox::create().value();
};

TEST_F(WithLeader, new_settings_come_as_soon_as_they_are_there) {
    std::optional<Settings> settings;
    const SettingsWatcher watcher(address_, *mailbox_, [&](const Result<service::LeaderSettings>& answer) {
        if (answer) settings = answer.value().settings;
    });
    deliver_until([&] { return settings.has_value(); });
    EXPECT_FALSE(settings->containers);
    EXPECT_TRUE(service::LeaderClient(address_).set_containers(true, {}).ok());
    deliver_until([&] { return settings->containers; });
}

TEST_F(WithLeader, reports_come_as_soon_as_they_are_sent) {
    std::size_t machines = 0;
    std::string reason;
    const MachinesWatcher watcher(address_, *mailbox_, [&](const Result<KnownMachines>& answer) {
        if (!answer) return;
        machines = answer.value().machines.size();
        if (machines > 0) reason = answer.value().machines[0].report.reason;
    });
    bool sent = false;
    Reporter reporter(address_, *mailbox_, [&](const Result<void>& result) { sent = sent || result.ok(); });
    reporter.send({"n1", false, "first", {}, "b", "0.1.0", {}});
    deliver_until([&] { return machines == 1 && sent; });
    EXPECT_EQ(reason, "first");
    reporter.send({"n1", false, "second", {}, "b", "0.1.0", {}});
    deliver_until([&] { return reason == "second"; });
}

TEST_F(WithLeader, a_report_is_sent_again_until_the_leader_is_back) {
    const std::uint16_t port = leader->port();
    leader.reset();
    int failures = 0;
    int successes = 0;
    Reporter reporter(address_, *mailbox_,
                      [&](const Result<void>& sent) { ++(sent ? successes : failures); });
    reporter.send({"n1", false, "lost", {}, "b", "0.1.0", {}});
    deliver_until([&] { return failures >= 2; });
    leader::Options options;
    options.directory = directory.path();
    options.port = port;
    leader = leader::Leader::start(options, [this] { return clock.load(); }).value();
    deliver_until([&] { return successes == 1; });
    EXPECT_NE(ask("GET", "machines", "machine").body.find("lost"), std::string::npos);
}

}  // namespace
}  // namespace llmgw::daemon
