#include "core/adopt_options.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

AdoptOptions parsed(const std::vector<std::string_view>& words) {
    return parse_adopt_options(words);
}

TEST(AdoptOptions, names_each_argument_that_is_none) {
    for (const char* word : {"",
                             "spool",
                             "spool=",
                             "spool=relative",
                             "conf=x",
                             "library=libslurm.so",
                             "wait=",
                             "wait=-1",
                             "wait=1s",
                             "wait=61",
                             "wait=99999999999999999999",
                             "role=",
                             "role=Node",
                             "admin_group=",
                             "service=",
                             "debug",
                             "container",
                             "container=",
                             "container=Join",
                             "container=join,host",
                             "=",
                             "Wait=1",
                             "spool=/a\nb"}) {
        const AdoptOptions options = parsed({"wait=2", word});
        ASSERT_EQ(options.problems.size(), 1U) << word;
        EXPECT_NE(options.problems[0].find("pam_llmgw_adopt(8)"), std::string::npos);
        EXPECT_EQ(options.problems[0].find('\n'), std::string::npos);
        EXPECT_EQ(options.wait, std::chrono::seconds(2));
    }
    EXPECT_EQ(parsed({"x", "y"}).problems.size(), 2U);
}

TEST(AdoptOptions, defaults_without_arguments) {
    const AdoptOptions options = parsed({});
    EXPECT_EQ(options, AdoptOptions{});
    EXPECT_EQ(options.wait, limits::step_wait);
    EXPECT_EQ(options.role, LoginRole::automatic);
    EXPECT_FALSE(options.join_container);
}

TEST(AdoptOptions, takes_what_it_knows) {
    const AdoptOptions options =
        parsed({"spool=/a", "spool=/b", "conf=/etc/x.conf", "library=/opt/lib/libslurm.so.42", "role=node",
                "wait=60", "admin_group=wheel", "service=sshd,login"});
    EXPECT_TRUE(options.problems.empty());
    EXPECT_EQ(options.spool, (std::vector<std::string>{"/a", "/b"}));
    EXPECT_EQ(options.conf, std::vector<std::string>{"/etc/x.conf"});
    EXPECT_EQ(options.library, "/opt/lib/libslurm.so.42");
    EXPECT_EQ(options.role, LoginRole::node);
    EXPECT_EQ(options.wait, limits::most_step_wait);
    EXPECT_EQ(parsed({"wait=0"}).wait, std::chrono::seconds(0));
    EXPECT_TRUE(parsed({"container=join"}).join_container);
    EXPECT_FALSE(parsed({"container=join", "container=host"}).join_container);
}

}  // namespace
}  // namespace llmgw
