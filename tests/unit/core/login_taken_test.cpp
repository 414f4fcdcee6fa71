#include "core/login_taken.hpp"

#include <gtest/gtest.h>

#include "core/netstrings.hpp"

namespace llmgw {
namespace {

TEST(LoginTaken, that_is_garbled_is_refused) {
    const std::string whole = format_login_taken({});
    ASSERT_TRUE(parse_login_taken(whole).ok());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(parse_login_taken(whole.substr(0, length)).ok()) << length;
    }
    EXPECT_FALSE(parse_login_taken(whole + "0:,").ok());
    EXPECT_FALSE(parse_login_taken(pack_netstrings({"x", "0", "", "", "", "", "", "", "", ""})).ok());
    EXPECT_FALSE(parse_login_taken(pack_netstrings({"-1", "0", "", "", "", "", "", "", "", ""})).ok());
    EXPECT_FALSE(parse_login_taken(pack_netstrings({"", "", "", "", "", "", "", "", "", ""})).ok());
    EXPECT_FALSE(parse_login_taken(pack_netstrings({"", "0", "", "", "", "", "1:x,", "", "", ""})).ok());
    EXPECT_FALSE(parse_login_taken(pack_netstrings({"", "0", "", "", "", "", "", "", "", "2:99,0:,"})).ok());
}

TEST(LoginTaken, comes_back_as_it_was) {
    LoginTaken taken;
    taken.step = 3;
    taken.slurmstepd = 4711;
    taken.place = {"freezer", "/slurm_n1/uid_1/job_5/step_extern"};
    taken.held = {"freezer", ""};
    taken.namespaces = {0x20000, 0};
    taken.suspended = {5, 4294967293};
    taken.failures = {"job 6: no, \"why\""};
    taken.foreign = {0, 4095};
    EXPECT_EQ(parse_login_taken(format_login_taken(taken)).value(), taken);
    LoginTaken failed;
    failed.error = Error{Code::missing, "none of them"};
    EXPECT_EQ(parse_login_taken(format_login_taken(failed)).value(), failed);
}

}  // namespace
}  // namespace llmgw
