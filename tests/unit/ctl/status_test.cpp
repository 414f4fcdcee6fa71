// The commands that talk to the helper, over a real bus.
#include <CLI/CLI.hpp>

#include "unit/ctl/commands.hpp"

namespace llmgw::ctl {
namespace {

constexpr const char* one_machine =
    R"({"machine":"n1","state":"ready","reason":"r","enabled":true,"controller":"n1","cluster_name":"c",)"
    R"("containers":true,"machines":[{"name":"n1","ready":true,"reason":"r"}]})";

TEST_F(Commands, status_shows_what_the_helper_describes) {
    start(test::our_policy);
    answers(one_machine);
    const Ran status = run({"status"});
    EXPECT_EQ(status.code, exit_fine);
    EXPECT_EQ(status.out,
              "cluster c, controller n1, containers on\nthis machine, n1: ready, r\n\nMACHINE  STATE      "
              "REASON\nn1       ready      r\n");
    const Ran json = run({"status", "--json"});
    EXPECT_EQ(json.code, exit_fine);
    EXPECT_NE(json.out.find("\"machine\": \"n1\""), std::string::npos) << json.out;
    answers(R"({"machines":[{"name":"n1","ready":false}]})");
    EXPECT_EQ(run({"status"}).code, exit_failed);
    EXPECT_EQ(run({"status", "--json"}).code, exit_failed);
}

TEST_F(Commands, status_refuses_an_answer_that_is_none) {
    start(test::our_policy);
    answers("no JSON");
    const Ran status = run({"status"});
    EXPECT_EQ(status.code, exit_failed);
    EXPECT_EQ(status.out, "");
    EXPECT_EQ(status.err.find("llmgw-slurm: the helper's answer: "), 0U) << status.err;
}

TEST_F(Commands, others_say_what_the_helper_says) {
    start(test::our_policy);
    EXPECT_EQ(run({"containers", "off"}).out, "did containers off\n");
    EXPECT_EQ(run({"gate", "closed"}).out, "did gate closed\n");
    EXPECT_EQ(run({"recheck"}).out, "did recheck\n");
    thread_.in_loop([&] { return port_.refuse = Error{Code::invalid, "the gate is on ctl\x1b[2J"}; });
    const Ran gate = run({"gate", "open"});
    EXPECT_EQ(gate.code, exit_failed);
    EXPECT_EQ(gate.out, "");
    // libsystemd 262 writes control characters as escapes itself.
    EXPECT_TRUE(gate.err == "llmgw-slurm: the gate is on ctl?[2J\n" ||
                gate.err == "llmgw-slurm: the gate is on ctl\\x1b[2J\n")
        << gate.err;
}

TEST_F(Commands, take_no_other_words) {
    for (const std::vector<const char*>& words : {std::vector<const char*>{"gate", "ajar"},
                                                  {"gate"},
                                                  {"containers", "maybe"},
                                                  {"recheck", "now"},
                                                  {}}) {
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, exit_usage);
        EXPECT_NE(ran.err, "");
    }
}

TEST_F(Commands, say_that_nobody_is_there) {
    EXPECT_EQ(run({"status"}).err,
              "llmgw-slurm: cannot reach the bus at unix:path=/nonexistent/bus: No such file or directory\n");
    bus_.emplace(test::open_policy);
    const Ran ran = run({"recheck"});
    EXPECT_EQ(ran.code, exit_failed);
    EXPECT_EQ(ran.err,
              "llmgw-slurm: llmgw-slurm-helper is not running on this machine (nobody has the name "
              "org.llmgw.Slurm1 on the bus); see \"systemctl status llmgw-slurm-helper\"\n");
}

TEST_F(Commands, say_who_may) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
    start(test::our_policy);
    answers(one_machine);
    test::as_user(test::nobody, {}, [&] {
        EXPECT_EQ(run({"gate", "open"}).err,
                  "llmgw-slurm: only root and members of the group llmgw-slurm may do this\n");
        EXPECT_EQ(run({"status"}).code, exit_fine);
    });
}

}  // namespace
}  // namespace llmgw::ctl
