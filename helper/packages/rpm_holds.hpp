// How dnf is told to leave a package at its version, and where that is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw::packages {

// dnf4's versionlock plugin is there and enabled; dnf5 needs none.
bool has_versionlock_plugin(const std::string& root);

// By either dnf's versionlock, and by our own repository files.
Result<std::vector<std::string>> read_holds(const std::string& root);

// dnf5 leaves a list without entries behind; it goes, if it says nothing else.
void remove_empty_lock_list(const std::string& root);

// The text with these names in (or out of) its excludepkgs line, which is added to each section that has
// none, and goes with its last name.
std::string with_excluded(std::string_view repository_file, const std::vector<std::string>& names,
                          bool excluded);
std::vector<std::string> excluded_in(std::string_view repository_file);

// In all repository files of ours, /etc/yum.repos.d/llmgw-*.repo. Error (missing): there is none.
Result<void> exclude_in_our_repositories(const std::string& root, const std::vector<std::string>& names,
                                         bool excluded);

}  // namespace llmgw::packages
