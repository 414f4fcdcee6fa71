// What to change in the files of plugstack.conf so that the stack has guard, options, pyxis and verify in
// that order (docs/machine.md): pure. The files come from slurm/plugstack_files.hpp, the edits are done by
// posix/apply_edits.hpp.
//
// Everything follows from the site's own lines, not from what we wrote before: the same site gives the same
// files, so that nothing is to be done the second time, and without us the site's bytes are as they were.
//
// Where our lines go, in this order of preference: a file of our own where the main file includes a directory
// with a pattern (Debian does); a marked block in the main file; a main file of our own if there is none.
// Where the site loads pyxis itself, its line stays, the guard goes in front of it and verify behind it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/file_edit.hpp"
#include "core/plugstack_ours.hpp"
#include "core/plugstack_tree.hpp"
#include "core/result.hpp"

namespace llmgw {

// A machine's stack as the editor needs to know it.
struct StackSite {
    PlugstackTree tree;
    // Why the main file can't be edited here, to follow its path: "is a symbolic link to
    // /shared/plugstack.conf". Empty: it can.
    std::string main_locked;
    // slurmctld here gives the main file to all machines (configless): then it gets an include, which leads
    // each machine to its own file, and not lines that would name libraries of this machine everywhere.
    bool published = false;
    // Directories in which a file of ours can be: on a local file system and root's alone; one that is
    // missing is made.
    std::set<std::string> directories;
    // Others that are included, and why not: "is on nfs, which other machines may use, too".
    std::map<std::string, std::string> unfit_directories;
    // Paths of plugins, as written, that are pyxis under another file name.
    std::set<std::string> aliases;

    bool operator==(const StackSite&) const = default;
};

// Nothing to change: none. Errors: conflict (the site's own lines keep this from being safe: pyxis twice,
// required, or under another name; somebody's lines among ours), denied (the main file can't be edited and
// includes no directory), invalid (paths). Each names file and line, and what to do.
Result<FileEdits> stack_edits(const StackSite& site, const StackLibraries& libraries, bool with_pyxis);

// Takes out everything that is ours. The site's lines stay as they are, safe or not.
Result<FileEdits> without_us(const StackSite& site);

// Takes out our line for pyxis and nothing else: before its library goes.
Result<FileEdits> without_pyxis(const StackSite& site);

// Where the site itself loads pyxis: "/etc/slurm/plugstack.conf:3"; "" if it doesn't. Same errors as
// stack_edits().
Result<std::string> site_pyxis(const StackSite& site);

}  // namespace llmgw
