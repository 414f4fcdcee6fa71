// The helper's command line and configuration file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/login_lines.hpp"
#include "posix/gpu_holders.hpp"
#include "service/fetcher.hpp"
#include "service/leader.hpp"
#include "service/machine_facts.hpp"

namespace llmgw::daemon {

struct Options {
    service::MachinePaths paths;
    service::LeaderAddress leader;
    std::string run_dir = "/run/llmgw-slurm";
    std::string state_dir = "/var/lib/llmgw-slurm";
    std::string releases = "/usr/share/llmgw-slurm/releases.json";
    std::string own_releases = "/etc/llmgw-slurm/releases.json";  // the admin's, instead of the above
    service::FetchOptions fetch;
    std::string guard_dir = LLMGW_PLUGIN_DIR;
    std::string proof_init = LLMGW_LIBEXEC_DIR "/proof-init";
    std::uint32_t build_timeout = 600;  // seconds
    bool observe = false;
    bool lend = false;  // also when only observing
    LoginRule logins = LoginRule::job;
    std::string node_program = LLMGW_LIBEXEC_DIR "/llmgw-slurm-node";
    GpuRules gpus = usual_gpu_rules();
    std::string bus_address;
    std::string bus_name = "org.llmgw.Slurm1";
    std::string inspect_plugin;            // --inspect-plugin: do that and nothing else
    std::vector<std::string> probe_paths;  // --probe-path: do that and nothing else
    std::string make_homes;                // --make-homes: do that and nothing else
    std::string look_at_shared;            // --look-at-shared: do that and nothing else
    std::string try_slurm_conf;            // --try-slurm-conf: do that and nothing else
    bool withdraw = false;                 // --withdraw: do that and nothing else
    bool leave_logins = false;             // --leave-logins: do that and nothing else
};

// Fills `options`, or says why not (or the help) and returns an exit code.
int parse_options(int argc, char** argv, Options& options, bool& leave);

}  // namespace llmgw::daemon
