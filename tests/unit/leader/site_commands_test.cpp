#include "leader/site_commands.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/limits.hpp"
#include "leader/site_runs.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

using Argv = std::vector<std::string>;

TEST(SiteCommands, are_refused_where_they_are_not_understood) {
    for (const std::string& wrong :
         {std::string("[]"), std::string(R"({"drian":["/x"]})"), std::string(R"({"drain":"/x"})"),
          std::string(R"({"drain":[]})"), std::string(R"({"drain":null})"), std::string(R"({"drain":[1]})"),
          std::string(R"({"drain":["x"]})"), std::string(R"({"drain":["/bin/{node}"]})"),
          std::string(R"({"drain":["/x\u0000"]})"), std::string(R"({"drain":["/x"],"drain":["/y"]})"),
          R"({"drain":["/x",")" + std::string(limits::site_argument_bytes + 1, 'a') + "\"]}"}) {
        EXPECT_FALSE(read_site_commands(wrong).ok()) << wrong;
    }
    std::string many = R"({"drain":["/x")";
    for (std::size_t i = 1; i < limits::site_command_arguments; ++i) many += ",\"a\"";
    EXPECT_TRUE(read_site_commands(many + "]}").ok());
    EXPECT_FALSE(read_site_commands(many + ",\"a\"]}").ok());
}

TEST(SiteCommands, are_each_optional) {
    EXPECT_EQ(read_site_commands("{}").value(), SiteCommands{});
    EXPECT_EQ(read_site_commands(R"({"drain":["/d","{node}"],"release":["/r"],"replicas":["/n"]})").value(),
              (SiteCommands{{"/d", "{node}"}, {"/r"}, {"/n"}}));
}

TEST(SiteCommands, take_the_nodes_name_wherever_it_is_asked_for) {
    EXPECT_EQ(for_node({"/d", "{node}", "--on={node},{node}", "{nod}", "$x;y"}, "n1"),
              (Argv{"/d", "n1", "--on=n1,n1", "{nod}", "$x;y"}));
}

TEST(SiteCommands, only_a_plain_nought_is_no_replica) {
    EXPECT_EQ(replicas_in("0"), 0U);
    EXPECT_EQ(replicas_in("0\n"), 0U);
    EXPECT_EQ(replicas_in("12\n"), 12U);
    for (const char* const other : {"", "\n", "00", "-0", "+0", " 0", "0 ", "0.0", "0x0", "0\n0", "none",
                                    "no", "4294967296", "-1", "0\t",
                                    "\xEF\xBB\xBF"
                                    "0"}) {
        EXPECT_EQ(replicas_in(other), std::nullopt) << other;
    }
}

struct SiteFileTest : testing::Test {
    void put(const std::string& text) { write_text(path, text); }
    test::TemporaryDirectory directory;
    std::string path = directory.file("leader.json");
};

TEST_F(SiteFileTest, no_file_means_no_commands) {
    const auto file = SiteFile::open(directory.path());
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(*file.value()->now(), SiteCommands{});
    EXPECT_EQ(file.value()->problem(), "");
    EXPECT_FALSE(file.value()->reload());
}

TEST_F(SiteFileTest, a_broken_one_is_refused_at_a_start) {
    put("{");
    const auto file = SiteFile::open(directory.path());
    ASSERT_FALSE(file.ok());
    EXPECT_TRUE(has(file.error().message, path)) << file.error().message;
    EXPECT_TRUE(has(file.error().message, "correct it"));
}

// It says what the leader runs.
TEST_F(SiteFileTest, one_that_others_may_write_is_refused) {
    put("{}");
    ::chmod(path.c_str(), 0666);
    EXPECT_EQ(SiteFile::open(directory.path()).error().code, Code::denied);
}

TEST_F(SiteFileTest, the_last_good_one_stays_and_the_problem_is_told) {
    put(R"({"drain":["/d"]})");
    const auto opened = SiteFile::open(directory.path());
    ASSERT_TRUE(opened.ok());
    SiteFile& file = *opened.value();
    EXPECT_FALSE(file.reload());
    put(R"({"drain":["d"]})");
    EXPECT_TRUE(file.reload());
    EXPECT_TRUE(has(file.problem(), "no absolute path")) << file.problem();
    EXPECT_EQ(file.now()->drain, Argv{"/d"});
    EXPECT_FALSE(file.reload()) << "the same problem";
    std::filesystem::remove(path);
    EXPECT_TRUE(file.reload());
    EXPECT_TRUE(has(file.problem(), "is gone")) << file.problem();
    EXPECT_EQ(file.now()->drain, Argv{"/d"});
    put("{}");
    EXPECT_TRUE(file.reload());
    EXPECT_EQ(file.problem(), "");
    EXPECT_EQ(*file.now(), SiteCommands{});
}

}  // namespace
}  // namespace llmgw::leader
