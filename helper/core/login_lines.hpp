// Our lines in sshd's PAM files on a node: which, and whether they are there. Pure; docs/login.md explains
// each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pam_stack.hpp"

namespace llmgw {

inline constexpr const char* adopt_module = "pam_llmgw_adopt.so";
inline constexpr const char* login_service = "sshd";

// Whom a node lets in by ssh, as its helper is told (--logins).
enum class LoginRule {
    job,        // users with a job there, into that job
    container,  // the same, and into its container where it runs one
    site,       // as the site's own PAM lines have it
};

// "job", "container", "site".
const char* text_of(LoginRule rule);

// What is added to /etc/pam.d/sshd where PAM's files are not made from profiles (pam-auth-update).
std::string login_block(LoginRule rule);

// Our module is in sshd's auth, account and session lines, with the words of that rule.
bool has_login_lines(const std::vector<PamLine>& sshd, LoginRule rule);
// Whether a line of it is there at all.
bool has_any_login_line(const std::vector<PamLine>& sshd);

// Another module that asks Slurm about logins ("pam_slurm_adopt.so in sshd:12"); empty: there is none.
std::string other_login_module(const std::vector<PamLine>& sshd);

// Has sshd start the program that enters the job's container, for users who get in through a job: with
// LoginRule::container.
inline constexpr const char* login_drop_in = "/etc/ssh/sshd_config.d/zz-llmgw-slurm-login.conf";
std::string login_drop_in_text(const std::string& program);
// Whether `sshd -T` says so.
bool sshd_starts(std::string_view effective, const std::string& program);

// Has systemd start no manager for users who get in through a job (user@.service): what they start there
// would be outside of it, and would live on.
inline constexpr const char* user_manager_drop_in = "/etc/systemd/system/user@.service.d/llmgw-slurm.conf";
std::string user_manager_text();

}  // namespace llmgw
