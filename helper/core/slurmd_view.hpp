// What the slurmd that runs here reads, and whether it has to be told of a change in plugstack.conf: pure.
// The facts come from slurm/daemon_facts.hpp.
//
// New steps and every command read plugstack.conf themselves, so that for them there is nothing to tell
// (Slurm 22.05 plugstack.c; 24.11 and 26.05 spank.c). slurmd itself loads the stack once, for its own
// callbacks and to know whether any plugin has a prolog or epilog.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

struct SlurmdFacts {
    bool running = false;
    std::int64_t started_ns = 0;     // since 1970
    bool replaced = false;           // its program was replaced since it started (an upgrade)
    bool from_controller = false;    // configless: it reads a copy that it fetched
    bool serves_configless = false;  // the configuration that it reads lets slurmctld give it to others
    std::string conf;                // its slurm.conf
    std::string plugstack;           // the main file that it and its steps read
    std::string spool_dir;           // SlurmdSpoolDir, with %n and %h expanded
    std::vector<std::string> steps;  // that run now: "4711.0", "4711.batch"

    bool operator==(const SlurmdFacts&) const = default;
};

enum class Tell {
    nothing,
    reconfigure,  // scontrol reconfigure, on the controller
    restart,      // of slurmd here, when no step runs
};

struct StackChange {
    std::int64_t changed_ns = 0;  // the newest change of a file of the stack
    bool main_published = false;  // this change was in a main file that all machines get from here
    bool for_slurmd = false;      // it brought or took a plugin with callbacks that slurmd itself has to know
    bool reconfigure_reloads = true;  // 23.11 and later: slurmd starts anew on reconfigure
};

struct ToTell {
    Tell what = Tell::nothing;
    std::string sentence;  // for the status; "" if there is nothing to tell

    bool operator==(const ToTell&) const = default;
};

ToTell to_tell(const SlurmdFacts& slurmd, const StackChange& change);

// slurmd must never be restarted under running steps. Why not now, as a sentence; nothing: it may be.
std::optional<std::string> restart_must_wait(const SlurmdFacts& slurmd);

// The arguments of a running slurmd, as far as they say where its configuration is (22.05 to 26.05 slurmd.c).
struct SlurmdArguments {
    std::string file;          // -f
    std::string node;          // -N
    bool conf_server = false;  // --conf-server

    bool operator==(const SlurmdArguments&) const = default;
};
SlurmdArguments parse_slurmd_arguments(const std::vector<std::string>& argv);

// A key's value in slurm.conf, the last one if there are several; keys in any case, `#` begins a comment.
std::optional<std::string> slurm_conf_value(std::string_view text, std::string_view key);

// The file that a line "Include FILE" of slurm.conf names.
std::optional<std::string> slurm_conf_include(std::string_view line);

// "4711.0" of a step's socket NODE_4711.0 in SlurmdSpoolDir (stepd_api.c); nothing: another file.
std::optional<std::string> step_of_socket(std::string_view name, std::string_view node);

// SlurmdSpoolDir with %n and %h replaced.
std::string expanded_path(std::string_view path, std::string_view node, std::string_view host);

}  // namespace llmgw
