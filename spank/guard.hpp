// The guard: a container step runs in a container or not at all. What each callback may do, and what happens
// when it fails, is in docs/architecture.md.
#pragma once

#include <string>

#include "spank_api.hpp"

namespace llmgw::guard {

// The words behind the plugin's path in plugstack.conf.
struct Arguments {
    bool verify = false;  // this line stands behind pyxis's and checks where the task ended up
    bool alone = false;   // there is no helper: don't ask for its node file
    std::string run_directory = "/run/llmgw-slurm";
    std::string state_directory = "/var/lib/llmgw-slurm";
    std::string enroot = "/usr/bin/enroot";  // looked at only when alone
};

// Unknown words are logged once and ignored: a plugin that fails to start would cost a plain job.
Arguments parse_arguments(int count, char* const* words);

// slurm_spank_init, remote context: notes what the step asks for before Slurm clears its variables.
void note_step(spank_t step, const Arguments& arguments);

// slurm_spank_init_post_opt, local and allocator context: sets or clears our marks, so that the gate sees
// requests made by variables, and the node those that --export=NONE keeps from it.
void mark_job(spank_t job);

// slurm_spank_task_init: returns, or prints one line and ends the task with exit code 1. The first line of
// plugstack.conf refuses a task whose node isn't fit; the `verify` line one that pyxis left on the host.
void admit_task(spank_t task, const Arguments& arguments);

// Whether the step asked for a container, as far as that can be found out; for the fail code of task_init.
bool container_step(spank_t task) noexcept;

// One line to the user and the log, the end of the step on its other nodes, then exit code 1. SPANK (22.05
// task.c:430) does the same for a required plugin; doing it here lets the line in plugstack.conf be optional.
[[noreturn]] void refuse(spank_t task, const std::string& message);

}  // namespace llmgw::guard
