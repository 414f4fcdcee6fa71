// Whether this node can be trusted with a container step: what the helper verified is still what is here.
#pragma once

#include <optional>
#include <string>

#include "guard.hpp"
#include "posix/user_directory.hpp"

namespace llmgw::guard {

// The one reason why not, or nothing. `pyxis` is the path pyxis was loaded from, empty if it wasn't.
std::optional<std::string> unfitness(const Arguments& arguments, const std::string& pyxis);

// In slurmstepd, as root, before pyxis uses them: makes the directories of enroot's that this user has not
// got yet, so that nobody else can make them first.
void make_user_directories(const Arguments& arguments, const User& user);

// The first of them that is not this user's alone, and why; or nothing.
std::optional<std::string> unsafe_directory(const Arguments& arguments, uid_t uid);

// False only where the helper says that Slurm has no oci.conf.
bool oci_runtime_or_unknown(const Arguments& arguments);

}  // namespace llmgw::guard
