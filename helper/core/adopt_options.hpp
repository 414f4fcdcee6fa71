// The arguments of pam_llmgw_adopt.so, as PAM's configuration has them. Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.hpp"

namespace llmgw {

// What this host is to logins.
enum class LoginRole {
    automatic,  // a node if slurmd ran here, unless slurmctld's configuration names it as a controller
    node,       // users need a job here
    none,       // the module does nothing
};

struct AdoptOptions {
    std::vector<std::string> spool;  // SlurmdSpoolDir of each slurmd, instead of what slurm.conf says
    std::vector<std::string> conf;   // instead of the usual places of slurm.conf
    std::string library;             // path of libslurm, instead of searching for it
    LoginRole role = LoginRole::automatic;
    std::chrono::seconds wait = limits::step_wait;
    bool join_container = false;        // tell llmgw-slurm-login about the one container of the job
    std::vector<std::string> problems;  // a sentence for each argument that is none

    bool operator==(const AdoptOptions&) const = default;
};

// Never fails: what is wrong is in `problems`, and then no user is let in.
AdoptOptions parse_adopt_options(const std::vector<std::string_view>& arguments);

// These two are read before anything that can fail, straight from the arguments: no allocation, no exception.
inline constexpr std::string_view admin_group_key = "admin_group=";
inline constexpr std::string_view service_key = "service=";
inline constexpr const char* default_admin_group = "llmgw-slurm";
inline constexpr std::string_view default_service = "sshd";

}  // namespace llmgw
