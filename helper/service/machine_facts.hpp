// Gathers what core/machine_check.hpp judges. Starts programs and waits for them: not for an event loop.
#pragma once

#include <string>
#include <vector>

#include "core/machine_check.hpp"
#include "posix/remembered.hpp"
#include "service/enroot_layout.hpp"
#include "slurm/plugstack_files.hpp"

namespace llmgw::service {

// Where things are on this machine; several helpers on one host differ in these.
struct MachinePaths {
    std::string machine;
    std::string plugstack;       // empty: the one that slurmd here reads
    std::string slurm_conf_dir;  // for oci.conf
    std::string enroot;          // /usr/bin/enroot
    std::string slurm_library;   // empty: looked for
    std::string inspector;       // a program that calls slurm::inspect_here(): this helper itself
    std::string pyxis = "/usr/local/lib/slurm/spank_pyxis.so";  // where the one that we build goes
    std::string enroot_conf_dir = "/etc/enroot";
    std::string proof = "/run/llmgw-slurm/proven";  // what the last container that started was started with
};

struct Gathered {
    MachineFacts facts;
    std::vector<std::string> watch;  // directories whose changes mean: look again
};

// What programs said of files, kept as long as the files are the same: a look at a machine on which nothing
// changed starts no program.
struct Inspections {
    Remembered<std::string> versions;  // of Slurm
    Remembered<PluginFacts> plugins;
    Remembered<std::string> enroot;
    Remembered<NodeHardware> hardware;
};

EnrootPlaces places_of(const MachinePaths& paths);

Gathered gather_facts(const MachinePaths& paths, Inspections& inspections);
// The same, with every program asked.
Gathered gather_facts(const MachinePaths& paths);

// The main file of Slurm's plugins here, and whether it is this machine's to edit.
slurm::StackPlace stack_place(const MachinePaths& paths);

// The library that we build, in its place, whether Slurm's configuration names it or not.
Result<PluginFacts> built_pyxis(const MachinePaths& paths, Inspections& inspections);

// What a proof is about, as one line: this boot, and every program and setting of enroot by fingerprint. It
// holds as long as this line is the same.
std::string proof_subject(const MachinePaths& paths);
Result<void> keep_proof(const MachinePaths& paths);

}  // namespace llmgw::service
