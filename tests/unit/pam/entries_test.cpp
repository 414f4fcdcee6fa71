// Nothing thrown leaves the module: every entry point, every kind of exception; users are refused, root and
// admins get in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "pam_api.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

struct Entry {
    const char* name;
    int (*call)(pam_handle_t*, int);
    int code;
    int flags;
};

class OnThrowingModule : public testing::Test {
  protected:
    int call(const Entry& entry, const char* user) {
        std::ofstream lines(place.file("sshd"));
        for (const char* section : {"auth", "account", "session"}) {
            lines << section << " required " THROWING_MODULE " admin_group=daemon\n"
                  << section << " required pam_permit.so\n";
        }
        lines.close();
        const pam_conv none{[](int, const pam_message**, pam_response**, void*) { return PAM_CONV_ERR; },
                            nullptr};
        pam_handle_t* pam = nullptr;
        if (pam_start_confdir("sshd", user, &none, place.path().c_str(), &pam) != PAM_SUCCESS) return -1;
        const int code = entry.call(pam, entry.flags);
        pam_end(pam, 0);
        return code;
    }
    test::TemporaryDirectory place;
};

class PamEntries : public OnThrowingModule,
                   public testing::WithParamInterface<std::tuple<Entry, const char*>> {};

TEST_P(PamEntries, return_their_fail_code_to_users_and_let_root_and_admins_in) {
    const auto& [entry, kind] = GetParam();
    ::setenv("LLMGW_TEST_THROWS", kind, 1);
    EXPECT_EQ(call(entry, "nobody"), entry.code);
    EXPECT_EQ(call(entry, "no-such-user"), entry.code);
    EXPECT_EQ(call(entry, "root"), PAM_SUCCESS);
    EXPECT_EQ(call(entry, "daemon"), PAM_SUCCESS);
    ::unsetenv("LLMGW_TEST_THROWS");
}

std::string name_of(const testing::TestParamInfo<std::tuple<Entry, const char*>>& tested) {
    return std::string(std::get<0>(tested.param).name) + "_" + std::get<1>(tested.param);
}

INSTANTIATE_TEST_SUITE_P(
    all, PamEntries,
    testing::Combine(testing::Values(Entry{"account", pam_acct_mgmt, PAM_PERM_DENIED, 0},
                                     Entry{"session", pam_open_session, PAM_SESSION_ERR, 0},
                                     Entry{"setcred", pam_setcred, PAM_CRED_ERR, PAM_REINITIALIZE_CRED}),
                     testing::Values("bad_alloc", "exception", "int")),
    name_of);

TEST_F(OnThrowingModule, entries_that_have_nothing_to_do_throw_nothing) {
    EXPECT_EQ(call({"authenticate", pam_authenticate, 0, 0}, "nobody"), PAM_SUCCESS);
    EXPECT_EQ(call({"close", pam_close_session, 0, 0}, "nobody"), PAM_SUCCESS);
    EXPECT_EQ(call({"delete", pam_setcred, 0, PAM_DELETE_CRED}, "nobody"), PAM_SUCCESS);
}

}  // namespace
}  // namespace llmgw
