// Leases over HTTP, with programs that stand in for a site's.
#include <sys/stat.h>

#include <future>

#include "core/limits.hpp"
#include "json/lease_json.hpp"
#include "service/leader.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

struct LeasesTest : LeaderFixture {
    void SetUp() override { write_text(directory.file("settings.json"), some_settings); }
    // A program that notes its call, does what `body` says, and is named in leader.json.
    void program(const std::string& name, const std::string& body) {
        const std::string path = directory.file(name + ".sh");
        write_text(path + "~", "#!/bin/sh\necho " + name + " \"$@\" >>" + calls_file() + "\n" + body + "\n");
        ::chmod((path + "~").c_str(), 0755);
        std::filesystem::rename(path + "~", path);
        commands += (commands.empty() ? "\"" : ",\"") + name + "\":[\"" + path + "\",\"{node}\"]";
        write_text(directory.file("leader.json"), "{" + commands + "}");
    }
    std::string calls_file() const { return directory.file("calls"); }
    std::string calls() const { return text_in(calls_file()); }
    bool called(const std::string& what) const {
        return test::eventually([&] { return has(calls(), what); });
    }
    void touch(const std::string& name) const { write_text(directory.file(name), "x"); }

    http::Response post(const std::string& lease, std::uint64_t generation, const std::string& node = "n1") {
        return ask("POST", "nodes/" + node + "/lease", "machine",
                   json::text_of(LeaseRequest{lease, generation}));
    }
    http::Response give_back(const std::string& lease, std::uint64_t generation,
                             const std::string& node = "n1") {
        return ask("DELETE", "nodes/" + node + "/lease", "machine",
                   json::text_of(LeaseRequest{lease, generation}));
    }
    static LeaseAnswer read(const http::Response& response) {
        EXPECT_EQ(response.status, 200) << response.body;
        Result<LeaseAnswer> answer = json::read_lease_answer(response.body);
        EXPECT_TRUE(answer.ok()) << answer.error().message << response.body;
        return answer ? answer.value() : LeaseAnswer{};
    }
    LeaseAnswer now(const std::string& node = "n1") {
        return read(ask("GET", "nodes/" + node + "/lease", "machine"));
    }
    bool becomes(const std::string& state, const std::string& node = "n1") {
        return test::eventually([&] { return now(node).state == state; });
    }
    static void expect_refused(const http::Response& response, std::uint64_t generation) {
        EXPECT_EQ(response.status, 409) << response.body;
        EXPECT_TRUE(has(response.body, "\"generation\":" + std::to_string(generation) + "}"))
            << response.body;
    }
    std::string commands;
};

TEST_F(LeasesTest, nobody_without_a_token_and_no_hostile_name) {
    start();
    const std::string body = R"({"lease":"a","generation":1})";
    for (const std::string method : {"GET", "POST", "DELETE"}) {
        EXPECT_EQ(ask(method, "nodes/n1/lease", "", method == "GET" ? "" : body).status, 401);
        for (const std::string name : {"..%2Fx", "-a", "a%20b", "%2e%2e", "a%0Ab"})
            EXPECT_EQ(ask(method, "nodes/" + name + "/lease", "machine", method == "GET" ? "" : body).status,
                      400);
    }
    EXPECT_EQ(ask("PUT", "nodes/n1/lease", "admin", body).status, 405);
    EXPECT_EQ(ask("GET", "nodes/n1", "admin").status, 404);
    EXPECT_TRUE(std::filesystem::is_empty(directory.file("leases")));
}

TEST_F(LeasesTest, what_is_no_request_changes_nothing) {
    start();
    for (const std::string body :
         {"", "{", "{}", R"({"lease":"a","generation":0})", R"({"lease":"../a","generation":1})",
          R"({"lease":"a","generation":1.5})"}) {
        EXPECT_EQ(ask("POST", "nodes/n1/lease", "machine", body).status, 422) << body;
        EXPECT_EQ(ask("DELETE", "nodes/n1/lease", "machine", body).status, 422) << body;
    }
    EXPECT_EQ(ask("POST", "nodes/n1/lease", "machine", std::string(limits::lease_bytes + 1, ' ')).status,
              413);
    http::Request form = request("POST", "nodes/n1/lease", "machine");
    form.body = R"({"lease":"a","generation":1})";
    form.headers = {{"Content-Type", "text/plain"}};
    EXPECT_EQ(sent(form).status, 415);
    EXPECT_EQ(now().lease, "");
}

TEST_F(LeasesTest, a_node_without_one_is_llmgws) {
    start();
    const LeaseAnswer answer = now("never-heard-of");
    EXPECT_EQ(answer, (LeaseAnswer{answer.revision, "none", "", 0, 0, "", {}}));
    EXPECT_GE(answer.revision, 1U);
}

TEST_F(LeasesTest, without_commands_it_is_free_at_once) {
    start();
    const LeaseAnswer first = read(post("a", 1));
    EXPECT_EQ(first, (LeaseAnswer{first.revision, "free", "a", 1, 0, "", {}}));
    EXPECT_EQ(read(post("a", 1)), first);
    EXPECT_EQ(now(), first);
    const LeaseAnswer over = read(give_back("a", 1));
    EXPECT_EQ(over, (LeaseAnswer{over.revision, "none", "a", 1, 0, "", {}}));
    EXPECT_GT(over.revision, first.revision);
    EXPECT_EQ(read(give_back("a", 1)), over);
}

TEST_F(LeasesTest, generations_only_go_up) {
    start();
    read(post("b", 5));
    expect_refused(post("a", 4), 5);
    expect_refused(post("a", 5), 5);
    expect_refused(give_back("b", 4), 5);
    expect_refused(give_back("a", 5), 5);
    EXPECT_EQ(read(post("c", 6)).generation, 6U);
    read(give_back("c", 6));
    expect_refused(post("c", 6), 6);
    EXPECT_EQ(read(give_back("d", 9)).generation, 9U);
    expect_refused(post("d", 9), 9);
    expect_refused(post("e", 8), 9);
    EXPECT_EQ(now("n2").generation, 0U) << "another node's";
    EXPECT_EQ(read(give_back("x", 3, "n2")).lease, "x");
}

TEST_F(LeasesTest, is_drained_until_no_replica_is_left) {
    program("drain", "");
    program("replicas", "cat " + directory.file("left"));
    write_text(directory.file("left"), "2\n");
    start();
    EXPECT_EQ(read(post("a", 1)).state, "draining");
    ASSERT_TRUE(test::eventually([&] { return now().replicas == 2; }));
    EXPECT_EQ(read(post("a", 1)).state, "draining");
    EXPECT_EQ(calls().find("drain n1"), calls().rfind("drain n1")) << calls();
    write_text(directory.file("left"), "0\n");
    ASSERT_TRUE(becomes("free"));
    EXPECT_EQ(now().replicas, 0U);
    EXPECT_EQ(now().reason, "");
    const std::string before = calls();
    read(post("b", 2));
    EXPECT_EQ(now().state, "free") << "without a gap";
    EXPECT_EQ(calls(), before);
}

TEST_F(LeasesTest, what_a_command_says_wrongly_is_never_free) {
    program("drain", "");
    program("replicas", ". " + directory.file("answer"));
    start();
    read(post("a", 1));
    for (const auto& [answer, reason] : {std::pair{"echo none", R"(said "none)"},
                                         {"echo 0; exit 3", "ended with code 3: 0"},
                                         {"echo oh no >&2; exit 1", "ended with code 1: oh no"},
                                         {"echo 00", "which is no number"},
                                         {"", R"(said "")"},
                                         {"kill -9 $$", "ended with code 137"}}) {
        write_text(directory.file("answer"), answer);
        EXPECT_TRUE(test::eventually([&] { return has(now().reason, reason); })) << reason << now().reason;
        EXPECT_TRUE(now().reason.starts_with("replicas: ")) << now().reason;
        EXPECT_EQ(now().state, "draining") << answer;
    }
    write_text(directory.file("answer"), "echo some words >&2; echo 0");
    EXPECT_TRUE(becomes("free")) << "standard error is no part of the answer";
}

TEST_F(LeasesTest, a_drain_that_fails_is_run_again) {
    program("drain", "test -e " + directory.file("fine") + " || { echo no route >&2; exit 1; }");
    start();
    read(post("a", 1));
    EXPECT_TRUE(test::eventually([&] { return has(now().reason, "no route"); }));
    EXPECT_EQ(now().state, "draining");
    touch("fine");
    EXPECT_TRUE(becomes("free"));
}

TEST_F(LeasesTest, llmgw_may_refuse_and_be_asked_again) {
    program("drain",
            "test -e " + directory.file("fine") + " || { echo first; echo the last one >&2; exit 75; }");
    program("release", "");
    start();
    read(post("a", 1));
    ASSERT_TRUE(becomes("refused"));
    EXPECT_EQ(now().reason, "the last one");
    start();
    EXPECT_EQ(now().state, "refused") << "after a restart, too";
    EXPECT_EQ(now().reason, "the last one");
    touch("fine");
    EXPECT_EQ(read(post("a", 1)).state, "draining");
    EXPECT_TRUE(becomes("free"));
}

TEST_F(LeasesTest, giving_back_releases_the_node_once) {
    program("drain", "");
    program("release", "");
    start();
    read(post("a", 1));
    ASSERT_TRUE(becomes("free"));
    EXPECT_EQ(read(give_back("a", 1)).state, "none");
    EXPECT_TRUE(called("release n1"));
    ASSERT_TRUE(test::eventually([&] { return !has(text_in(directory.file("leases/n1.json")), "release"); }));
    read(give_back("a", 1));
    read(post("b", 2));
    ASSERT_TRUE(becomes("free"));
    EXPECT_EQ(calls().find("release"), calls().rfind("release")) << calls();
}

TEST_F(LeasesTest, giving_back_does_not_wait_for_a_drain_that_hangs) {
    program("drain", "exec sleep 600");
    program("release", "");
    start();
    read(post("a", 1));
    ASSERT_TRUE(called("drain n1"));
    EXPECT_EQ(read(give_back("a", 1)).state, "none");
    EXPECT_TRUE(called("release n1"));
}

// The release may be starting replicas just then: it has to be over before the node is drained and free.
TEST_F(LeasesTest, is_not_free_while_the_last_release_runs) {
    program("release", "test -e " + directory.file("fine") + " || exec sleep 600");
    start();
    read(post("a", 1));
    read(give_back("a", 1));
    ASSERT_TRUE(called("release n1"));
    EXPECT_EQ(read(post("b", 2)).state, "draining");
    EXPECT_TRUE(becomes("free"));
}

TEST_F(LeasesTest, a_release_that_fails_is_told_and_run_again) {
    program("release", "test -e " + directory.file("fine") + " || exit 4");
    start();
    read(post("a", 1));
    read(give_back("a", 1));
    EXPECT_TRUE(test::eventually([&] { return has(now().reason, "ended with code 4"); }));
    EXPECT_EQ(now().state, "none");
    touch("fine");
    EXPECT_TRUE(test::eventually([&] { return now().reason.empty(); }));
}

TEST_F(LeasesTest, one_nodes_drain_keeps_no_other_waiting) {
    program("drain", "test \"$1\" != n1 || exec sleep 600");
    start();
    read(post("a", 1, "n1"));
    ASSERT_TRUE(called("drain n1"));
    read(post("a", 1, "n2"));
    EXPECT_TRUE(becomes("free", "n2"));
    EXPECT_EQ(now("n1").state, "draining");
}

TEST_F(LeasesTest, a_restart_goes_on_with_what_was_begun) {
    program("drain", "test -e " + directory.file("fine") + " || exec sleep 600");
    program("release", "test -e " + directory.file("fine") + " || exit 1");
    start();
    read(post("a", 1, "n1"));
    read(post("b", 2, "n2"));
    read(give_back("b", 2, "n2"));
    read(give_back("c", 3, "n3"));
    ASSERT_TRUE(called("drain n1"));
    const std::uint64_t revision = now("n1").revision;
    leader.reset();
    std::filesystem::remove(calls_file());
    touch("fine");
    start();
    EXPECT_TRUE(called("drain n1"));
    EXPECT_TRUE(called("release n2"));
    EXPECT_TRUE(becomes("free", "n1"));
    EXPECT_GT(now("n1").revision, revision);
    expect_refused(post("c", 3, "n3"), 3);
    std::filesystem::remove(calls_file());
    start();
    EXPECT_EQ(now("n1").state, "free") << "what was free is free";
    EXPECT_FALSE(has(calls(), "drain"));
}

TEST_F(LeasesTest, a_broken_table_is_no_empty_one) {
    start();
    read(post("a", 1));
    leader.reset();
    const std::string good = text_in(directory.file("leases/n1.json"));
    Options options;
    options.directory = directory.path();
    options.port = 0;
    for (const std::string& broken : {std::string(), good.substr(0, good.size() / 2), std::string("{}"),
                                      std::string(R"({"lease":"a","generation":1,"state":"Free"})"),
                                      std::string(R"({"lease":"a","generation":-1,"state":"free"})")}) {
        write_text(directory.file("leases/n1.json"), broken);
        const auto refused = Leader::start(options, [] { return std::int64_t{0}; });
        ASSERT_FALSE(refused.ok()) << broken;
        EXPECT_TRUE(has(refused.error().message, directory.file("leases/n1.json")))
            << refused.error().message;
        EXPECT_TRUE(has(refused.error().message, "Put a good copy there, or write"))
            << refused.error().message;
    }
    write_text(directory.file("leases/n1.json"), good);
    write_text(directory.file("leases/n1.json.a1B2c3"), "{");
    start();
    EXPECT_EQ(now().state, "free");
    EXPECT_FALSE(std::filesystem::exists(directory.file("leases/n1.json.a1B2c3")));
    leader.reset();
    write_text(directory.file("leases/what.txt"), good);
    EXPECT_FALSE(Leader::start(options, [] { return std::int64_t{0}; }).ok());
}

TEST_F(LeasesTest, does_not_start_with_a_broken_leader_json) {
    write_text(directory.file("leader.json"), R"({"drain":["kubectl"]})");
    Options options;
    options.directory = directory.path();
    options.port = 0;
    const auto refused = Leader::start(options, [] { return std::int64_t{0}; });
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(has(refused.error().message, "leader.json")) << refused.error().message;
}

TEST_F(LeasesTest, takes_new_commands_and_keeps_the_last_good_ones) {
    program("drain", "exit 1");
    start();
    read(post("a", 1));
    ASSERT_TRUE(called("drain n1"));
    write_text(directory.file("leader.json"), "{");
    leader->reload_all();
    EXPECT_TRUE(has(leader->status(), "the last good commands stay in force")) << leader->status();
    EXPECT_EQ(now().state, "draining");
    write_text(directory.file("leader.json"), "{}");
    leader->reload_all();
    EXPECT_TRUE(becomes("free"));
}

TEST_F(LeasesTest, polls_wait_for_their_own_node) {
    start();
    const auto poll = [&](const std::string& node) {
        http::Request asked = request("GET", "nodes/" + node + "/lease?wait=60", "machine");
        asked.headers = {{"If-None-Match", "\"" + std::to_string(now(node).revision) + "\""}};
        return std::async(std::launch::async, [asked] { return sent(asked); });
    };
    const auto waiting = [&](std::size_t polls) {
        return test::eventually([&] { return leader->server().waiting() == polls; });
    };
    auto first = poll("n1");
    auto second = poll("n2");
    ASSERT_TRUE(waiting(2));
    const LeaseAnswer posted = read(post("a", 1, "n1"));
    const http::Response answer = first.get();
    EXPECT_EQ(read(answer), posted);
    EXPECT_EQ(http::header(answer.headers, "ETag"), "\"" + std::to_string(posted.revision) + "\"");
    EXPECT_TRUE(waiting(1)) << "n2's";
    read(post("a", 1, "n2"));
    EXPECT_EQ(read(second.get()).state, "free");
    http::Request again = request("GET", "nodes/n1/lease", "machine");
    again.headers = {{"If-None-Match", "\"" + std::to_string(posted.revision) + "\""}};
    EXPECT_EQ(sent(again).status, 304);
}

TEST_F(LeasesTest, a_reclaim_comes_with_the_taking_back) {
    start();
    const auto patch = [&](const std::string& body) {
        return ask("PATCH", "settings", "admin", body).status;
    };
    const LeaseAnswer held = read(post("a", 1, "n2"));
    EXPECT_EQ(patch(R"({"reclaim":{"deadline":9,"then":"cancel"}})"), 422);
    EXPECT_EQ(patch(R"({"lent":{"add":["n3"]},"reclaim":{"deadline":9,"then":"cancel"}})"), 422);
    EXPECT_EQ(patch(R"({"lent":{"remove":["n2"]},"reclaim":{"deadline":9,"then":"kill"}})"), 400);
    EXPECT_EQ(now("n2"), held);
    EXPECT_EQ(patch(R"({"lent":{"remove":["n2","n1"]},"reclaim":{"deadline":9,"then":"cancel"}})"), 200);
    EXPECT_EQ(now("n2").reclaim, (Reclaim{9, "cancel"}));
    EXPECT_GT(now("n2").revision, held.revision);
    EXPECT_EQ(now("n1").reclaim, std::nullopt) << "it has no lease";
    start();
    EXPECT_EQ(now("n2").reclaim, (Reclaim{9, "cancel"})) << "after a restart";
    EXPECT_EQ(read(post("b", 2, "n2")).reclaim, (Reclaim{9, "cancel"})) << "with another lease of the node";
    EXPECT_EQ(patch(R"({"lent":{"add":["n2"]}})"), 200);
    EXPECT_EQ(now("n2").reclaim, std::nullopt) << "lent again";
    EXPECT_EQ(patch(R"({"lent":{"remove":["n2"]},"reclaim":{"deadline":10,"then":"requeue"}})"), 200);
    EXPECT_EQ(now("n2").reclaim, (Reclaim{10, "requeue"}));
    write_text(directory.file("settings.json"), some_settings);
    leader->reload_settings();
    EXPECT_EQ(now("n2").reclaim, std::nullopt) << "lent again by hand";
    EXPECT_EQ(patch(R"({"lent":{"remove":["n2"]},"reclaim":{"deadline":10,"then":"requeue"}})"), 200);
    EXPECT_EQ(read(give_back("b", 2, "n2")).reclaim, std::nullopt);
    EXPECT_FALSE(has(text_in(directory.file("settings.json")), "reclaim"));
}

// The helper's own client against the real thing.
TEST_F(LeasesTest, speaks_with_the_helpers_client) {
    start();
    service::LeaderClient client({"http://127.0.0.1:" + std::to_string(leader->port()),
                                  directory.file("token.machine"), directory.file("token.admin"), ""});
    const Result<LeaseAnswer> asked = client.ask_lease("n2", "a", 3, {});
    ASSERT_TRUE(asked.ok()) << asked.error().message;
    EXPECT_EQ(asked.value().state, "free");
    EXPECT_EQ(client.lease("n2", 0, std::chrono::seconds(1), {}).value(), asked.value());
    EXPECT_EQ(client.lease("n2", asked.value().revision, std::chrono::seconds(0), {}).value(), std::nullopt);
    EXPECT_EQ(client.ask_lease("n2", "b", 2, {}).error().code, Code::conflict);
    EXPECT_TRUE(client.set_lent({}, {"n2"}, Reclaim{7, "requeue"}, {}).ok());
    EXPECT_EQ(client.lease("n2", 0, std::chrono::seconds(1), {}).value()->reclaim, (Reclaim{7, "requeue"}));
    EXPECT_TRUE(client.set_lent({"n2"}, {}, std::nullopt, {}).ok());
    EXPECT_EQ(client.give_back_lease("n2", "a", 3, {}).value().state, "none");
    EXPECT_EQ(client.give_back_lease("n2", "b", 3, {}).error().code, Code::conflict);
}

}  // namespace
}  // namespace llmgw::leader
