// What the module's entry points do for a user who is neither root nor an admin.
#pragma once

#include <string_view>
#include <vector>

#include "pam_api.hpp"

namespace llmgw::login {

struct Words {
    int count;
    const char** words;
    bool silent;  // PAM_SILENT: nothing to the user
};

// A user's login begins: into a job of theirs, or PAM_PERM_DENIED with a sentence. PAM_IGNORE where the host
// is no node.
int account(pam_handle_t* pam, const Words& words);

// Every other module has run: still in the job, or back in it, or PAM_SESSION_ERR. Sets the job's variables
// and joins its namespaces.
int open_session(pam_handle_t* pam, const Words& words);

// sshd calls this once more in the process that becomes the user's (platform.c), behind all session modules:
// where one of them moved the login after ours had looked, it is put back, or ends here.
int set_credentials(pam_handle_t* pam, const Words& words);

}  // namespace llmgw::login
