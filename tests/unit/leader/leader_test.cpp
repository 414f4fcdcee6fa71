#include "leader/leader.hpp"

#include <sys/stat.h>

#include <future>
#include <vector>

#include "core/limits.hpp"
#include "json/load.hpp"
#include "json/report_json.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

struct LeaderTest : LeaderFixture {
    void SetUp() override {
        write_text(directory.file("settings.json"), some_settings);
        start();
    }
    std::uint64_t settings_revision() const {
        return static_cast<std::uint64_t>(
            *json::parse(ask("GET", "settings", "machine").body).value().find("revision")->integer());
    }
    std::future<http::Response> poll(const std::string& target, std::uint64_t seen) const {
        http::Request asked = request("GET", target, "machine");
        asked.headers = {{"If-None-Match", "\"" + std::to_string(seen) + "\""}};
        return std::async(std::launch::async, [asked] { return sent(asked); });
    }
    bool waiting(std::size_t polls = 1) const {
        return test::eventually([&] { return leader->server().waiting() == polls; });
    }
};

TEST_F(LeaderTest, LetsNobodyInWithoutAToken) {
    for (const std::string target : {"settings", "machines", "machines/n1", "nothing", ""}) {
        for (const std::string method : {"GET", "PUT", "PATCH", "DELETE", "POST"}) {
            for (const std::string bearer :
                 {"", "wrong", "0000000000000000000000000000000000000000000000000000000000000000"}) {
                http::Request asked = request(method, target, "");
                asked.bearer = bearer;
                if (method != "GET" && method != "DELETE") asked.body = report_of("n1");
                const http::Response refused = sent(asked);
                EXPECT_EQ(refused.status, 401) << method << target;
                EXPECT_EQ(http::header(refused.headers, "WWW-Authenticate"), "Bearer realm=\"llmgw-slurm\"");
                EXPECT_TRUE(refused.body.starts_with("{\"error\":\"")) << refused.body;
            }
        }
    }
    EXPECT_EQ(ask("GET", "machines", "machine").body.find("n1"), std::string::npos);
}

TEST_F(LeaderTest, LetsMachinesChangeNothingButTheirReport) {
    EXPECT_EQ(ask("PATCH", "settings", "machine", R"({"containers":true})").status, 403);
    EXPECT_EQ(ask("DELETE", "machines/n1", "machine").status, 403);
    EXPECT_EQ(text_in(directory.file("settings.json")), some_settings);
    EXPECT_EQ(ask("GET", "settings", "machine").status, 200);
    EXPECT_EQ(ask("GET", "machines", "machine").status, 200);
    EXPECT_EQ(ask("PUT", "machines/n1", "machine", report_of("n1")).status, 200);
}

TEST_F(LeaderTest, LetsAdminsDoAllOfIt) {
    EXPECT_EQ(ask("GET", "settings", "admin").status, 200);
    EXPECT_EQ(ask("PUT", "machines/n1", "admin", report_of("n1")).status, 200);
    EXPECT_EQ(ask("DELETE", "machines/n1", "admin").status, 200);
    EXPECT_EQ(ask("DELETE", "machines/n1", "admin").status, 404);
    EXPECT_EQ(ask("PATCH", "settings", "admin", R"({"containers":true})").status, 200);
}

TEST_F(LeaderTest, SaysWhatCannotBeDoneWhere) {
    EXPECT_EQ(ask("GET", "nothing", "admin").status, 404);
    EXPECT_EQ(ask("GET", "settings/", "admin").status, 404);
    const http::Response refused = ask("POST", "settings", "admin", "{}");
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(http::header(refused.headers, "Allow"), "GET, PATCH");
    EXPECT_EQ(ask("GET", "settings?wait=soon", "admin").status, 400);
    EXPECT_EQ(ask("GET", "settings", "admin", "a body").status, 413);
}

TEST_F(LeaderTest, RefusesHostileNames) {
    for (const std::string name : {"..%2Fx", "%2e%2e", "a%2Fb", "..%2f..%2fetc%2fpasswd", "-a", "a%20b",
                                   "a%0Ab", "%C3%A4", "token.admin%00", "../x", ".", ""}) {
        const int status = ask("PUT", "machines/" + name, "machine", report_of("n1")).status;
        EXPECT_TRUE(status == 400 || status == 404) << name << ": " << status;
    }
    EXPECT_EQ(
        ask("PUT", "machines/" + std::string(63, 'a'), "machine", report_of(std::string(63, 'a'))).status,
        200);
    EXPECT_EQ(
        ask("PUT", "machines/" + std::string(64, 'a'), "machine", report_of(std::string(64, 'a'))).status,
        400);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.file("machines")), {}), 1);
}

TEST_F(LeaderTest, RefusesReportsThatAreNone) {
    EXPECT_EQ(ask("PUT", "machines/n1", "machine", "").status, 422);
    EXPECT_EQ(ask("PUT", "machines/n1", "machine", "{").status, 422);
    EXPECT_EQ(ask("PUT", "machines/n1", "machine", report_of("n2")).status, 422) << "somebody else's";
    EXPECT_EQ(ask("PUT", "machines/n1", "machine", report_of("n1", R"(a\u001bb)")).status, 422);
    EXPECT_EQ(
        ask("PUT", "machines/n1", "machine", report_of("n1") + std::string(limits::report_bytes, ' ')).status,
        413);
    http::Request form = request("PUT", "machines/n1", "machine");
    form.body = report_of("n1");
    form.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    EXPECT_EQ(sent(form).status, 415);
    EXPECT_EQ(*json::parse(ask("GET", "machines", "machine").body).value().find("machines"),
              Value(Value::Array{}));
}

TEST_F(LeaderTest, ServesReportsWithTheirTime) {
    ask("PUT", "machines/n1", "machine", report_of("n1"));
    clock += 10;
    const http::Response answer = ask("GET", "machines", "machine");
    const KnownMachines known = json::read_machines(answer.body).value();
    ASSERT_EQ(known.machines.size(), 1U);
    EXPECT_EQ(known.machines[0].report.name, "n1");
    EXPECT_EQ(known.now - known.machines[0].received, 10);
    EXPECT_EQ(http::header(answer.headers, "ETag"), "\"" + std::to_string(known.revision) + "\"");
    EXPECT_EQ(http::header(answer.headers, "Content-Type"), "application/json");
}

TEST_F(LeaderTest, AnswersAtOnceToWhoHasSeenSomethingElse) {
    const std::uint64_t revision = settings_revision();
    EXPECT_EQ(poll("settings?wait=60", revision + 1).get().status, 200);
    EXPECT_EQ(poll("settings", revision).get().status, 304) << "without a wait";
    const http::Response waited = poll("settings?wait=1", revision).get();
    EXPECT_EQ(waited.status, 304);
    EXPECT_EQ(http::header(waited.headers, "ETag"), "\"" + std::to_string(revision) + "\"");
    EXPECT_EQ(waited.body, "");
}

TEST_F(LeaderTest, WakesPollsWithWhatTheyWaitFor) {
    auto settings = poll("settings?wait=60", settings_revision());
    auto machines = poll("machines?wait=60",
                         json::read_machines(ask("GET", "machines", "machine").body).value().revision);
    ASSERT_TRUE(waiting(2));
    ask("PUT", "machines/n1", "machine", report_of("n1"));
    EXPECT_TRUE(has(machines.get().body, "\"n1\""));
    EXPECT_TRUE(waiting(1)) << "reports are no news about settings";
    EXPECT_EQ(ask("PATCH", "settings", "admin", R"({"lent":{"add":["n3"]}})").status, 200);
    EXPECT_TRUE(has(settings.get().body, R"("lent":["n2","n3"])"));
}

TEST_F(LeaderTest, WakesPollsWhenAMachineFallsSilent) {
    ask("PUT", "machines/n1", "machine", report_of("n1"));
    auto machines = poll("machines?wait=60",
                         json::read_machines(ask("GET", "machines", "machine").body).value().revision);
    ASSERT_TRUE(waiting());
    ask("PUT", "machines/n1", "machine", report_of("n1"));
    leader->tick();
    EXPECT_TRUE(waiting());
    clock += limits::report_silent_after.count() + 1;
    leader->tick();
    const KnownMachines known = json::read_machines(machines.get().body).value();
    EXPECT_TRUE(is_silent(known.machines.at(0), known.now));
}

TEST_F(LeaderTest, HoldsFiveHundredPollsWithFewThreads) {
    const std::uint64_t revision = settings_revision();
    std::vector<test::RawClient> clients;
    for (int i = 0; i < 500; ++i) {
        clients.emplace_back(leader->port());
        clients.back().send(
            "GET /slurm/v1/settings?wait=60 HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: "
            "Bearer " +
            token("machine") + "\r\nIf-None-Match: \"" + std::to_string(revision) + "\"\r\n\r\n");
    }
    ASSERT_TRUE(waiting(500));
    EXPECT_LT(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}), 12);
    write_text(directory.file("settings.json"), R"({"enabled":false})");
    leader->reload_settings();
    for (const test::RawClient& client : clients) EXPECT_TRUE(has(client.rest(), R"({"enabled":false})"));
}

TEST_F(LeaderTest, RefusesPatchesWithAllTheirErrors) {
    EXPECT_EQ(ask("PATCH", "settings", "admin", "{").status, 400);
    EXPECT_EQ(ask("PATCH", "settings", "admin", R"({"controller":"n2"})").status, 400);
    const http::Response wrong = ask("PATCH", "settings", "admin", R"({"lent":{"add":["n8","n9"]}})");
    EXPECT_EQ(wrong.status, 422);
    const Value body = json::parse(wrong.body).value();
    EXPECT_EQ(body.find("errors")->array()->size(), 2U);
    EXPECT_TRUE(has(*body.find("error")->text(), "n9"));
    EXPECT_EQ(text_in(directory.file("settings.json")), some_settings);
}

TEST_F(LeaderTest, RefusesPatchesThatMissedSomething) {
    const std::uint64_t revision = settings_revision();
    http::Request patch = request("PATCH", "settings", "admin");
    patch.headers = {{"If-Match", "\"" + std::to_string(revision) + "\""}};
    patch.body = R"({"lent":{"add":["n3"]}})";
    EXPECT_EQ(sent(patch).status, 200);
    EXPECT_EQ(sent(patch).status, 409);
    patch.headers = {{"If-Match", "yesterday"}};
    EXPECT_EQ(sent(patch).status, 400);
}

TEST_F(LeaderTest, LosesNoneOfManyPatchesAtOnce) {
    std::vector<std::future<http::Response>> patches;
    for (const std::string name : {"n1", "n3"}) {
        for (const std::string& change : {R"({"containers":true,"lent":{"add":[")" + name + "\"]}}",
                                          R"({"lent":{"add":[")" + name + "\"]}}"}) {
            http::Request patch = request("PATCH", "settings", "admin");
            patch.body = change;
            patches.push_back(std::async(std::launch::async, [patch] { return sent(patch); }));
        }
    }
    for (auto& patch : patches) EXPECT_EQ(patch.get().status, 200);
    const std::string body = ask("GET", "settings", "machine").body;
    for (const std::string name : {"n1", "n3"})
        EXPECT_TRUE(has(body.substr(body.find("lent")), name)) << body;
    EXPECT_TRUE(has(body, R"("containers":true)"));
}

TEST_F(LeaderTest, TellsReadersOfAWrongEdit) {
    auto settings = poll("settings?wait=60", settings_revision());
    ASSERT_TRUE(waiting());
    write_text(directory.file("settings.json"), "{");
    leader->reload_settings();
    const http::Response answer = settings.get();
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(has(answer.body, R"("lent":["n2"]},"problem":")")) << answer.body;
    EXPECT_EQ(ask("PATCH", "settings", "admin", R"({"containers":true})").status, 409);
    EXPECT_EQ(text_in(directory.file("settings.json")), "{");
}

TEST_F(LeaderTest, TakesNewTokensAndKeepsTheOldOnesWhereItCannot) {
    const std::string old = token("machine");
    http::Request asked = request("GET", "settings", "machine");
    write_text(directory.file("token.machine"), "short\n");
    leader->reload_all();
    EXPECT_EQ(sent(asked).status, 200);
    std::filesystem::remove(directory.file("token.machine"));
    leader->reload_all();
    EXPECT_NE(token("machine"), old);
    EXPECT_EQ(sent(asked).status, 401);
    asked.bearer = token("machine");
    EXPECT_EQ(sent(asked).status, 200);
}

TEST_F(LeaderTest, SharesItsDirectoryWithNoOther) {
    Options options;
    options.directory = directory.path();
    options.port = 0;
    const auto second = Leader::start(options, [] { return std::int64_t{0}; });
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::conflict);
}

TEST_F(LeaderTest, DoesNotStartWithTokensThatOthersCanRead) {
    leader.reset();
    ::chmod(directory.file("token.admin").c_str(), 0644);
    Options options;
    options.directory = directory.path();
    options.port = 0;
    const auto refused = Leader::start(options, [] { return std::int64_t{0}; });
    EXPECT_EQ(refused.error().code, Code::denied);
}

TEST_F(LeaderTest, DoesNotListenElsewhereWithoutTls) {
    leader.reset();
    Options options;
    options.directory = directory.path();
    options.address = "0.0.0.0";
    options.port = 0;
    const auto refused = Leader::start(options, [] { return std::int64_t{0}; });
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_TRUE(has(refused.error().message, "certificate"));
}

}  // namespace
}  // namespace llmgw::leader
