// Entry points of pam_llmgw_adopt.so. Root and the admins' group are let in first, by code that can't fail;
// for everyone else what goes wrong refuses.
#include <syslog.h>

#include "core/boundary.hpp"
#include "exemption.hpp"
#include "login.hpp"

using namespace llmgw;

namespace {

template <class Body>
int for_users(pam_handle_t* pam, const char* entry, int fail, int count, const char** words,
              Body body) noexcept {
    switch (login::business(pam, count, words)) {
        case login::Business::none:
            return PAM_IGNORE;
        case login::Business::exempt:
            return PAM_SUCCESS;
        case login::Business::user:
            break;
    }
    const auto report = [pam](const char* where, const char* what) {
        pam_syslog(pam, LOG_ERR, "%s: %s", where, what);
    };
    return contained(entry, fail, report, body);
}

}  // namespace

// PAM's headers declare these without noexcept, and so must we; for_users() has it.
extern "C" {

int pam_sm_acct_mgmt(pam_handle_t* pam, int flags, int count, const char** words) {
    return for_users(pam, "account", PAM_PERM_DENIED, count, words, [&] {
        return login::account(pam, {count, words, (flags & PAM_SILENT) != 0});
    });
}

int pam_sm_open_session(pam_handle_t* pam, int flags, int count, const char** words) {
    return for_users(pam, "open_session", PAM_SESSION_ERR, count, words, [&] {
        return login::open_session(pam, {count, words, (flags & PAM_SILENT) != 0});
    });
}

// Nothing is left to do: the job's end is the login's.
int pam_sm_close_session(pam_handle_t*, int, int, const char**) {
    return PAM_SUCCESS;
}

// For a line in the auth section, which this module needs for pam_sm_setcred only.
int pam_sm_authenticate(pam_handle_t*, int, int, const char**) {
    return PAM_IGNORE;
}

int pam_sm_setcred(pam_handle_t* pam, int flags, int count, const char** words) {
    if ((flags & PAM_DELETE_CRED) != 0) return PAM_IGNORE;
    return for_users(pam, "setcred", PAM_CRED_ERR, count, words, [&] {
        return login::set_credentials(pam, {count, words, (flags & PAM_SILENT) != 0});
    });
}

}  // extern "C"
