// What is asked of rpm and dnf (4, as on RHEL 8 to 10, and 5, as on Fedora), as values. Nothing waits for an
// answer, and nothing weak comes along.
#pragma once

#include <string>
#include <vector>

#include "core/task_runner.hpp"
#include "packages/manager.hpp"
#include "posix/process.hpp"

namespace llmgw::packages::dnf {

struct Program {
    std::string path = "/usr/bin/dnf";
    bool five = false;

    bool operator==(const Program&) const = default;
};

std::vector<std::string> environment();

// "NAME EPOCH:VERSION-RELEASE ARCH" with tabs, a line for each installed package.
Command installed_query(const std::string& root);
// The same of a package file.
Command file_query(const std::string& file);
// Reads all of a file and compares it with the digests inside.
Command digests_query(const std::string& file);
// Configuration files of installed packages, a line each.
Command configuration_query(const std::string& root, const std::vector<std::string>& names);
// Where rpm's own lock is.
Command lock_path_query();

Task install_preview_task(const Program& dnf, const std::string& root, const Wanted& wanted);
Task remove_preview_task(const Program& dnf, const std::string& root, const std::vector<std::string>& names);
Task install_task(const Program& dnf, const std::string& root, const Wanted& wanted);
Task remove_task(const Program& dnf, const std::string& root, const std::vector<std::string>& names);
Task refresh_task(const Program& dnf, const std::string& root);
// "NAME EPOCH:VERSION-RELEASE SOURCERPM" with tabs, a line for each version that a repository has.
Task offers_task(const Program& dnf, const std::string& root, const std::string& name);
// What any of the versions needs, a line each.
Task needs_task(const Program& dnf, const std::string& root, const std::string& name);
Task versionlock_task(const Program& dnf, const std::string& root, const std::vector<std::string>& names,
                      bool held);
// One of two versions that an interrupted transaction left: "enroot-4.2-1.x86_64".
Task erase_task(const std::string& root, const std::vector<std::string>& packages);
// The repositories of one directory by themselves, into a cache of their own.
Task try_repository_task(const Program& dnf, const std::string& root, const std::string& repository_directory,
                         const std::string& cache);
// Some of the machine's repositories, by their ids.
Task read_repositories_task(const Program& dnf, const std::string& root, const std::vector<std::string>& ids);

}  // namespace llmgw::packages::dnf
