// plugstack.conf as Slurm would load it, read from disk with its includes.
#pragma once

#include <string>
#include <vector>

#include "core/plugstack.hpp"
#include "core/plugstack_edit.hpp"
#include "core/plugstack_tree.hpp"
#include "core/result.hpp"

namespace llmgw::slurm {

struct PlugstackFiles {
    Plugstack stack;
    std::vector<std::string>
        directories;  // that a file of the stack is in, or an include could match: to watch
    ResolvedStack resolved;
    PlugstackTree tree;
};

// Errors: too many includes or lines (core/plugstack_tree.hpp), unreadable.
Result<PlugstackFiles> read_plugstack(const std::string& path);

struct StackPlace {
    std::string path = "/etc/slurm/plugstack.conf";
    bool from_controller = false;  // a copy that slurmd fetched, and fetches again
    bool published = false;        // slurmctld here gives it to all machines
};

// The same with what has to be known before it is edited. `libraries` are those that our lines would name.
Result<StackSite> read_stack_site(const StackPlace& place, const StackLibraries& libraries);

}  // namespace llmgw::slurm
