// Gathers what core/machine_check.hpp judges. Starts programs and waits for them: not for an event loop.
#pragma once

#include <string>
#include <vector>

#include "core/machine_check.hpp"

namespace llmgw::service {

// Where things are on this machine; several helpers on one host differ in these.
struct MachinePaths {
    std::string machine;
    std::string plugstack;       // /etc/slurm/plugstack.conf
    std::string slurm_conf_dir;  // for oci.conf
    std::string enroot;          // /usr/bin/enroot
    std::string slurm_library;   // empty: looked for
    std::string inspector;       // a program that calls slurm::inspect_here(): this helper itself
};

struct Gathered {
    MachineFacts facts;
    std::vector<std::string> watch;  // directories whose changes mean: look again
};

Gathered gather_facts(const MachinePaths& paths);

}  // namespace llmgw::service
