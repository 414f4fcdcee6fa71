#include "service/leader.hpp"

#include <atomic>
#include <deque>
#include <mutex>

#include "http/server.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::service {
namespace {

class LeaderCalls : public leader::LeaderFixture {
  protected:
    void SetUp() override {
        leader::write_text(directory.file("settings.json"), leader::some_settings);
        start();
        address = {"http://127.0.0.1:" + std::to_string(leader->port()), directory.file("token.machine"),
                   directory.file("token.admin"), ""};
    }
    LeaderAddress address;
};

TEST_F(LeaderCalls, gets_settings_with_their_text_to_keep) {
    const Result<LeaderSettings> settings = LeaderClient(address).settings(0, {});
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_GT(settings.value().revision, 0U);
    EXPECT_EQ(settings.value().settings.controller, "n1");
    EXPECT_EQ(settings.value().problem, "");
    EXPECT_EQ(settings_from(settings.value().text).value(), settings.value().settings);
}

TEST_F(LeaderCalls, is_told_of_a_problem_beside_the_settings_in_force) {
    leader::write_text(directory.file("settings.json"), "{");
    leader->reload_settings();
    const Result<LeaderSettings> settings = LeaderClient(address).settings(0, {});
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_EQ(settings.value().settings.controller, "n1");
    EXPECT_NE(settings.value().problem, "");
}

TEST_F(LeaderCalls, reports_and_gets_reports) {
    LeaderClient client(address);
    MachineReport report{"n2",   false,   "no enroot",     {{"slurm", "22.05.8"}},
                         "boot", "0.1.0", "200000-200002", {}};
    ASSERT_TRUE(client.report(report, {}).ok());
    const Result<KnownMachines> machines = client.machines(0, {});
    ASSERT_TRUE(machines.ok()) << machines.error().message;
    ASSERT_EQ(machines.value().machines.size(), 1U);
    EXPECT_EQ(machines.value().machines[0].report, report);
    EXPECT_EQ(machines.value().now, clock);
}

TEST_F(LeaderCalls, knows_how_its_clock_differs_once_the_leader_answered) {
    LeaderClient client(address);
    EXPECT_EQ(client.clock_ahead(), std::nullopt);
    ASSERT_TRUE(client.settings(0, {}).ok());
    ASSERT_TRUE(client.clock_ahead().has_value());
    // Both are this machine's, in whole seconds.
    EXPECT_GE(*client.clock_ahead(), -1);
    EXPECT_LE(*client.clock_ahead(), 30);
}

TEST_F(LeaderCalls, waits_for_news) {
    LeaderClient client(address);
    const std::uint64_t known = client.settings(0, {}).value().revision;
    std::thread admin([this] {
        EXPECT_TRUE(test::eventually([&] { return leader->server().waiting() == 1; }));
        EXPECT_TRUE(LeaderClient(address).set_containers(true, {}).ok());
    });
    const Result<LeaderSettings> settings = client.settings(known, {});
    admin.join();
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_TRUE(settings.value().settings.containers);
    EXPECT_NE(settings.value().revision, known);
}

TEST_F(LeaderCalls, stops_waiting_when_it_is_asked_to) {
    LeaderClient client(address);
    const std::uint64_t known = client.settings(0, {}).value().revision;
    std::stop_source stop;
    std::thread stopping([&] {
        EXPECT_TRUE(test::eventually([&] { return leader->server().waiting() == 1; }));
        stop.request_stop();
    });
    EXPECT_EQ(client.settings(known, stop.get_token()).error().code, Code::unavailable);
    stopping.join();
}

TEST_F(LeaderCalls, is_denied_with_the_wrong_token) {
    leader::write_text(directory.file("other"), "wrong\n");
    ::chmod(directory.file("other").c_str(), 0600);
    address.token_file = directory.file("other");
    const Result<LeaderSettings> settings = LeaderClient(address).settings(0, {});
    ASSERT_FALSE(settings.ok());
    EXPECT_EQ(settings.error().code, Code::denied);
    EXPECT_EQ(settings.error().message.find("the leader answered 401: "), 0U) << settings.error().message;
    address.admin_token_file = directory.file("token.machine");
    EXPECT_EQ(LeaderClient(address).set_containers(true, {}).error().code, Code::denied);
}

// `missing` means "nothing changed" to those who wait: a missing token must be something else, or they would
// ask again at once, for ever.
TEST_F(LeaderCalls, says_which_token_it_cannot_read) {
    address.token_file = directory.file("no-token");
    for (const std::uint64_t known : {0U, 1U}) {
        const Result<LeaderSettings> settings = LeaderClient(address).settings(known, {});
        ASSERT_FALSE(settings.ok());
        EXPECT_EQ(settings.error().code, Code::denied);
        EXPECT_NE(settings.error().message.find(address.token_file), std::string::npos);
    }
}

TEST_F(LeaderCalls, uses_no_token_that_others_can_read) {
    ::chmod(address.token_file.c_str(), 0644);
    EXPECT_EQ(LeaderClient(address).machines(0, {}).error().code, Code::denied);
    ::chmod(address.token_file.c_str(), 0600);
    EXPECT_TRUE(LeaderClient(address).machines(0, {}).ok());
    leader::write_text(address.token_file, "\n");
    EXPECT_EQ(LeaderClient(address).machines(0, {}).error().code, Code::denied);
}

TEST_F(LeaderCalls, changes_no_settings_without_an_admin_token) {
    address.admin_token_file.clear();
    const Result<void> set = LeaderClient(address).set_containers(true, {});
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().code, Code::denied);
    EXPECT_EQ(set.error().message,
              "this machine has no admin token (--admin-token-file); do it where the leader runs, or in "
              "llmgw's settings");
    EXPECT_FALSE(LeaderClient(address).settings(0, {}).value().settings.containers);
}

TEST_F(LeaderCalls, finds_no_leader) {
    const std::string url = address.url;
    leader.reset();
    EXPECT_EQ(LeaderClient(address).settings(0, {}).error().code, Code::unavailable);
    address.url = "http://192.0.2.1:8470";
    EXPECT_EQ(LeaderClient(address).settings(0, {}).error().code, Code::invalid) << "plain HTTP to elsewhere";
}

// A leader that says whatever the test wants.
class Liar : public http::Handler {
  public:
    std::variant<http::Answer, std::size_t> admit(const http::Incoming&) override { return 1000U; }
    std::variant<http::Answer, http::Wait> answer(const http::Incoming&) override {
        return http::json_answer(status, body);
    }
    int status = 200;
    std::string body;
};

class LyingLeader : public testing::Test {
  protected:
    void SetUp() override {
        leader::write_text(directory.file("token"), "t\n");
        ::chmod(directory.file("token").c_str(), 0600);
        Result<http::Server> started = http::Server::start({}, liar);
        ASSERT_TRUE(started.ok());
        server.emplace(std::move(started).value());
        address = {"http://127.0.0.1:" + std::to_string(server->port()), directory.file("token"),
                   directory.file("token"), ""};
    }
    Error refused(int status, const std::string& body, std::uint64_t known = 0) {
        liar.status = status;
        liar.body = body;
        const Result<LeaderSettings> settings = LeaderClient(address).settings(known, {});
        EXPECT_FALSE(settings.ok()) << body;
        return settings ? Error{} : settings.error();
    }
    test::TemporaryDirectory directory;
    Liar liar;
    std::optional<http::Server> server;
    LeaderAddress address;
};

TEST_F(LyingLeader, is_answered_with_the_right_kind_of_error) {
    EXPECT_EQ(refused(500, R"({"error":"disk full"})"),
              (Error{Code::unavailable, "the leader answered 500: disk full"}));
    EXPECT_EQ(refused(503, "<html>"), (Error{Code::unavailable, "the leader answered 503"}));
    EXPECT_EQ(refused(401, R"({"error":7})"), (Error{Code::denied, "the leader answered 401"}));
    EXPECT_EQ(refused(403, ""), (Error{Code::denied, "the leader answered 403"}));
    EXPECT_EQ(refused(404, ""), (Error{Code::invalid, "the leader answered 404"}));
    EXPECT_EQ(refused(302, ""), (Error{Code::invalid, "the leader answered 302"}));
}

TEST_F(LyingLeader, is_not_believed_that_a_node_is_free) {
    LeaderClient client(address);
    const std::string good =
        R"({"revision":3,"state":"free","lease":"a","generation":2,"replicas":0,"reason":""})";
    liar.status = 200;
    liar.body = good;
    const LeaseAnswer free{3, "free", "a", 2, 0, "", {}};
    EXPECT_EQ(client.ask_lease("n1", "a", 2, {}).value(), free);
    EXPECT_EQ(client.lease("n1", 0, std::chrono::seconds(1), {}).value(), free);
    for (const auto& [part, other] : {std::pair{R"("free")", R"("freed")"},
                                      {R"("state":"free",)", ""},
                                      {R"("replicas":0)", R"("replicas":1)"},
                                      {R"("replicas":0)", R"("replicas":"0")"},
                                      {"}", ""}}) {
        liar.body = good;
        liar.body.replace(liar.body.find(part), std::string(part).size(), other);
        EXPECT_EQ(client.ask_lease("n1", "a", 2, {}).error().code, Code::unavailable) << liar.body;
        EXPECT_EQ(client.give_back_lease("n1", "a", 2, {}).error().code, Code::unavailable) << liar.body;
        EXPECT_EQ(client.lease("n1", 0, std::chrono::seconds(1), {}).error().code, Code::unavailable)
            << liar.body;
    }
    liar.body = R"({"error":"generation 9 is known","generation":9})";
    liar.status = 409;
    EXPECT_EQ(client.ask_lease("n1", "a", 2, {}).error(),
              (Error{Code::conflict, "the leader answered 409: generation 9 is known"}));
}

TEST_F(LyingLeader, says_that_nothing_changed_of_a_lease) {
    liar.status = 304;
    liar.body = "";
    EXPECT_EQ(LeaderClient(address).lease("n1", 3, std::chrono::seconds(1), {}).value(), std::nullopt);
    EXPECT_EQ(LeaderClient(address).lease("n1", 0, std::chrono::seconds(1), {}).error().code, Code::invalid);
}

TEST_F(LyingLeader, says_that_nothing_changed_only_to_who_asked_for_that) {
    EXPECT_EQ(refused(304, "", 7).code, Code::missing);
    EXPECT_EQ(refused(304, "", 0), (Error{Code::invalid, "the leader answered 304"}));
}

TEST_F(LyingLeader, cannot_steer_a_terminal_or_fill_a_log) {
    const Error error = refused(500, R"({"error":"a\u001b[2J\u009b1m\nb)" + std::string(5000, 'x') + "\"}");
    EXPECT_EQ(error.message.find("the leader answered 500: a?[2J?1m?bxxx"), 0U) << error.message;
    EXPECT_LT(error.message.size(), 1100U);
}

TEST_F(LyingLeader, is_not_believed) {
    for (const char* body :
         {"", "{", "[]", "{}", R"({"revision":1})", R"({"settings":{}})",
          R"({"revision":"1","settings":{"enabled":false}})",
          R"({"revision":1.5,"settings":{"enabled":false}})",
          R"({"revision":-1,"settings":{"enabled":false}})", R"({"revision":1,"settings":[]})",
          R"({"revision":1,"settings":{"enabled":true}})",
          R"({"revision":1,"settings":{"enabled":false,"x":1}})"}) {
        EXPECT_EQ(refused(200, body).code, Code::invalid) << body;
    }
    EXPECT_EQ(refused(200, R"({"revision":1,"settings":{"enabled":true,"nodes":["a b"]}})")
                  .message.find("the settings are wrong: "),
              0U);
}

TEST_F(LyingLeader, may_say_more_than_we_know) {
    liar.body = R"({"revision":1,"settings":{"enabled":false},"news":"x"})";
    EXPECT_TRUE(LeaderClient(address).settings(0, {}).ok());
}

// The settings may have all that they may have, also inside the answer.
TEST_F(LyingLeader, may_send_the_largest_settings) {
    std::string document = R"({"enabled":false)";
    document += std::string(limits::settings_bytes - document.size() - 1, ' ') + "}";
    liar.body = R"({"revision":1,"settings":)" + document + "}";
    const Result<LeaderSettings> settings = LeaderClient(address).settings(0, {});
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_LE(settings.value().text.size(), limits::settings_bytes);
}

}  // namespace
}  // namespace llmgw::service
