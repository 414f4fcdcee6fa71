// Nothing thrown leaves the module: every entry point, every kind of exception; users are refused, root and
// admins get in.
#include <gtest/gtest.h>

#include <stdexcept>

#include "login.hpp"

namespace llmgw {
namespace {

enum class Throws { bad_alloc, runtime_error, number };
Throws kind;
int reached;

int fail() {
    ++reached;
    if (kind == Throws::bad_alloc) throw std::bad_alloc();
    if (kind == Throws::runtime_error) throw std::runtime_error("broken");
    throw 7;
}

}  // namespace

// In place of pam/login.cpp.
namespace login {
int account(pam_handle_t*, const Words&) {
    return fail();
}
int open_session(pam_handle_t*, const Words&) {
    return fail();
}
int set_credentials(pam_handle_t*, const Words&) {
    return fail();
}
}  // namespace login

namespace {

struct Entry {
    const char* name;
    int (*function)(pam_handle_t*, int, int, const char**);
    int code;
};

class PamEntries : public testing::TestWithParam<std::tuple<Entry, Throws>> {
  protected:
    static int call(const Entry& entry, const char* user) {
        const pam_conv none{[](int, const pam_message**, pam_response**, void*) { return PAM_CONV_ERR; },
                            nullptr};
        pam_handle_t* pam = nullptr;
        if (pam_start_confdir("sshd", user, &none, "/nonexistent", &pam) != PAM_SUCCESS) return -1;
        const char* words[] = {"admin_group=daemon"};
        const int code = entry.function(pam, 0, 1, words);
        pam_end(pam, 0);
        return code;
    }
};

TEST_P(PamEntries, return_their_fail_code_to_users_and_let_root_and_admins_in) {
    const Entry& entry = std::get<0>(GetParam());
    kind = std::get<1>(GetParam());
    reached = 0;
    EXPECT_EQ(call(entry, "nobody"), entry.code);
    EXPECT_EQ(call(entry, "no-such-user"), entry.code);
    EXPECT_EQ(reached, 2);
    EXPECT_EQ(call(entry, "root"), PAM_SUCCESS);
    EXPECT_EQ(call(entry, "daemon"), PAM_SUCCESS);
    EXPECT_EQ(reached, 2);
}

INSTANTIATE_TEST_SUITE_P(
    all, PamEntries,
    testing::Combine(testing::Values(Entry{"account", pam_sm_acct_mgmt, PAM_PERM_DENIED},
                                     Entry{"session", pam_sm_open_session, PAM_SESSION_ERR},
                                     Entry{"setcred", pam_sm_setcred, PAM_CRED_ERR}),
                     testing::Values(Throws::bad_alloc, Throws::runtime_error, Throws::number)),
    [](const auto& tested) {
        constexpr const char* kinds[] = {"bad_alloc", "exception", "int"};
        return std::string(std::get<0>(tested.param).name) + "_" +
               kinds[static_cast<int>(std::get<1>(tested.param))];
    });

TEST(PamEntries, that_have_nothing_to_do_say_so) {
    EXPECT_EQ(pam_sm_authenticate(nullptr, 0, 0, nullptr), PAM_IGNORE);
    EXPECT_EQ(pam_sm_close_session(nullptr, 0, 0, nullptr), PAM_SUCCESS);
    EXPECT_EQ(pam_sm_setcred(nullptr, PAM_DELETE_CRED, 0, nullptr), PAM_IGNORE);
}

}  // namespace
}  // namespace llmgw
