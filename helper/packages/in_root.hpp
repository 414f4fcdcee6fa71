// Paths of an installation root, and how packages are called in descriptions.
#pragma once

#include <string>
#include <vector>

#include "packages/manager.hpp"

namespace llmgw::packages {

inline bool is_machine(const std::string& root) {
    return root.empty() || root == "/";
}

inline std::string in_root(const std::string& root, const std::string& path) {
    return is_machine(root) ? path : root + path;
}

// Files without their directories, then the names.
inline std::vector<std::string> file_names(const Wanted& wanted) {
    std::vector<std::string> names;
    for (const std::string& file : wanted.files) names.push_back(file.substr(file.rfind('/') + 1));
    names.insert(names.end(), wanted.names.begin(), wanted.names.end());
    return names;
}

}  // namespace llmgw::packages
