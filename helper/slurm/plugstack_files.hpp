// plugstack.conf as Slurm would load it, read from disk with its includes.
#pragma once

#include <string>
#include <vector>

#include "core/plugstack.hpp"
#include "core/result.hpp"

namespace llmgw::slurm {

struct PlugstackFiles {
    Plugstack stack;
    std::vector<std::string>
        directories;  // that a file of the stack is in, or an include could match: to watch
};

// A missing file is an empty stack (Slurm: 22.05 plugstack.c:563). An include is a glob, relative to the
// directory of the file that has it; one that matches nothing adds nothing. Errors: too many includes or
// lines, unreadable.
Result<PlugstackFiles> read_plugstack(const std::string& path);

}  // namespace llmgw::slurm
