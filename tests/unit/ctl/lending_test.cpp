// lend, reclaim and fence, over a real bus.
#include <ctime>
#include <sstream>

#include "unit/ctl/commands.hpp"

namespace llmgw::ctl {
namespace {

class LendingCommands : public Commands {};

TEST_F(LendingCommands, say_which_nodes_go_where) {
    start(test::our_policy);
    const Ran lend = run({"lend", "n1", "n2"});
    EXPECT_EQ(lend.code, exit_fine);
    EXPECT_NE(lend.out.find("lent to Slurm: n1, n2."), std::string::npos) << lend.out;
    const Ran reclaim = run({"reclaim", "n3"});
    EXPECT_NE(reclaim.out.find("taken back from Slurm: n3."), std::string::npos) << reclaim.out;
    EXPECT_EQ(calls(), (std::vector<std::string>{"lend +n1 +n2", "lend -n3"}));
}

TEST_F(LendingCommands, turn_a_deadline_into_a_time) {
    start(test::our_policy);
    const auto deadline_of = [&](const char* text, const char* then) {
        const std::int64_t now = ::time(nullptr);
        EXPECT_EQ((then[0] == 'c' ? run({"reclaim", "n1", "--deadline", text, "--cancel"})
                                  : run({"reclaim", "n1", "--deadline", text}))
                      .code,
                  exit_fine);
        std::istringstream said(calls().back());
        std::string lend;
        std::string node;
        std::int64_t deadline = 0;
        std::string what;
        said >> lend >> node >> deadline >> what;
        EXPECT_EQ(what, then);
        return deadline - now;
    };
    for (const auto& [text, seconds] :
         {std::pair{"30m", 1800}, {"45", 2700}, {"90s", 90}, {"2h", 7200}, {"1d", 86400}, {"0s", 0}}) {
        EXPECT_NEAR(static_cast<double>(deadline_of(text, "requeue")), seconds, 5) << text;
    }
    EXPECT_NEAR(static_cast<double>(deadline_of("30m", "cancel")), 1800, 5);
}

TEST_F(LendingCommands, refuse_what_they_cannot_read) {
    start(test::our_policy);
    for (const std::vector<const char*>& words : {std::vector<const char*>{"lend"},
                                                  {"reclaim"},
                                                  {"reclaim", "n1", "--deadline", "soon"},
                                                  {"reclaim", "n1", "--deadline", "-5"},
                                                  {"reclaim", "n1", "--deadline", "5w"},
                                                  {"reclaim", "n1", "--cancel"},
                                                  {"fence", "off"},
                                                  {"fence", "ajar", "n1"},
                                                  {"fence", "on", "n1", "n2"}}) {
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, exit_usage) << words.back();
        EXPECT_NE(ran.err, "");
    }
    EXPECT_TRUE(calls().empty());
}

TEST_F(LendingCommands, wait_until_slurm_has_all_and_say_what_each_waits_for) {
    start(test::our_policy);
    answers(
        R"({"machines":[{"name":"n1","lending":{"phase":"slurm","since":0,"generation":1,"waiting":[],"fence":true}},)"
        R"({"name":"n2","lending":{"phase":"slurm","since":0,"generation":1,"waiting":["x"],"fence":false}}]})");
    const Ran lend = run({"lend", "n1", "n2", "--wait"});
    EXPECT_EQ(lend.code, exit_fine);
    EXPECT_NE(lend.out.find("n1: Slurm's, since "), std::string::npos) << lend.out;
    EXPECT_NE(lend.out.find(", fence off: x\n"), std::string::npos) << lend.out;
}

TEST_F(LendingCommands, open_and_close_the_fence) {
    start(test::our_policy);
    EXPECT_EQ(run({"fence", "off", "n1"}).out, "did fence n1 off\n");
    EXPECT_EQ(run({"fence", "on", "n1"}).out, "did fence n1 on\n");
}

}  // namespace
}  // namespace llmgw::ctl
