// Who is none of the module's business, decided before anything that can fail: without allocation, without
// exception, without a file of Slurm's.
#pragma once

#include "pam_api.hpp"

namespace llmgw::login {

enum class Business {
    none,    // another service than sshd
    exempt,  // root, or of the admins' group
    user,
};

Business business(pam_handle_t* pam, int count, const char** words) noexcept;

}  // namespace llmgw::login
