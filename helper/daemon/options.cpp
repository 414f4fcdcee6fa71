#include "daemon/options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>

#include "core/names.hpp"
#include "core/shown.hpp"

namespace llmgw::daemon {
namespace {

constexpr int usage_error = 2;

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return {};
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

}  // namespace

int parse_options(int argc, char** argv, Options& options, bool& leave) {
    options.paths.machine = host_name();
    options.paths.slurm_conf_dir = "/etc/slurm";
    options.paths.enroot = "/usr/bin/enroot";
    options.leader.url = "http://127.0.0.1:8470";
    options.leader.token_file = "/etc/llmgw-slurm/token";

    CLI::App app("Makes this machine what llmgw's settings say, and reports it. Runs as root, one a machine.",
                 "llmgw-slurm-helper");
    app.set_version_flag("--version", LLMGW_VERSION);
    app.set_config("--config", "/etc/llmgw-slurm/helper.conf", "the same options, as \"name = value\" lines");
    app.option_defaults()->always_capture_default();
    app.add_option("--machine", options.paths.machine, "the machine's name in llmgw and in Slurm");
    app.add_option("--leader", options.leader.url,
                   "llmgw's leader: https://HOST:PORT, or http towards loopback");
    app.add_option("--token-file", options.leader.token_file, "the machine token");
    app.add_option("--admin-token-file", options.leader.admin_token_file,
                   "the admin token, where settings may be changed from here");
    app.add_option("--ca-file", options.leader.ca_file, "certificates to trust instead of the system's");
    app.add_option("--run-dir", options.run_dir, "where guard and gate read their state");
    app.add_option("--state-dir", options.state_dir, "what must survive a reboot");
    app.add_option("--releases", options.releases, "the pinned versions, as they were installed");
    app.add_option("--own-releases", options.own_releases,
                   "the admin's own, used instead where the file is there");
    app.add_option("--mirror", options.fetch.mirror,
                   "where the pinned files are by name instead of at their origins: a URL or a directory");
    app.add_option("--proxy", options.fetch.proxy, "for downloads");
    app.add_option("--download-ca-file", options.fetch.ca_file,
                   "certificates to trust in downloads instead of the system's");
    app.add_option("--cache-dir", options.fetch.cache, "where downloads are kept");
    app.add_option("--build-timeout", options.build_timeout, "seconds that building pyxis may take")
        ->check(CLI::Range(1, 86400));
    app.add_flag("--observe", options.observe,
                 "only look at this machine and start a container to prove that others set it up right");
    app.add_flag("--lend", options.lend, "with --observe: lend this node and take it back all the same");
    app.add_option("--logins", options.logins,
                   "whom sshd lets in on a node: \"job\", users with a job there, into it; \"container\", "
                   "the same, and into "
                   "its container; \"site\", as the site's own PAM lines say")
        ->transform(CLI::CheckedTransformer(std::map<std::string, LoginRule>{
            {"job", LoginRule::job}, {"container", LoginRule::container}, {"site", LoginRule::site}}));
    app.add_option("--gpu-device", options.gpus.devices,
                   "device files of GPUs, as patterns; what has one open holds a GPU");
    app.add_option("--gpu-allow", options.gpus.allowed,
                   "programs, by path, that may hold a GPU of an empty node");
    app.add_option("--gpu-unseen", options.gpus.unseen,
                   "names of processes that can't be looked into, where this machine is a container itself: "
                   "passed over");
    app.add_option("--node-program", options.node_program,
                   "llmgw-slurm-node, which asks slurmctld about this node");
    app.add_option("--plugstack", options.paths.plugstack,
                   "plugstack.conf, where it isn't the one that slurmd here reads");
    app.add_option("--slurm-conf-dir", options.paths.slurm_conf_dir, "Slurm's configuration directory");
    app.add_option("--slurm-library", options.paths.slurm_library, "libslurmfull.so, where it isn't found");
    app.add_option("--enroot", options.paths.enroot, "the enroot program");
    app.add_option("--enroot-conf-dir", options.paths.enroot_conf_dir, "enroot's configuration directory");
    app.add_option("--pyxis", options.paths.pyxis, "where pyxis's library is put");
    app.add_option("--guard-dir", options.guard_dir, "where the guard's libraries are");
    app.add_option("--proof-init", options.proof_init, "the program that the proof's image consists of");
    app.add_option("--bus-address", options.bus_address, "another bus than the system's");
    app.add_option("--bus-name", options.bus_name, "the name to take there");
    app.add_option("--inspect-plugin", options.inspect_plugin, "load a plugin, print what it is, and leave")
        ->group("");
    app.add_option("--probe-path", options.probe_paths, "say what a directory can do (USE=PATH), and leave")
        ->group("");
    app.add_option("--make-homes", options.make_homes, "make the homes that a file names, and leave")
        ->group("");
    app.add_option("--look-at-shared", options.look_at_shared, "look at a directory, and leave")->group("");
    app.add_option(
           "--try-slurm-conf", options.try_slurm_conf,
           "start slurmctld with the slurm.conf in that directory to see whether it takes it, and leave")
        ->group("");
    app.add_flag("--withdraw", options.withdraw,
                 "take this suite's lines out of plugstack.conf and leave: before its libraries are removed")
        ->group("");
    app.add_flag("--leave-logins", options.leave_logins,
                 "take this suite's lines out of sshd's PAM files and leave")
        ->group("");
    leave = true;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : usage_error;
    }
    const bool serves = options.inspect_plugin.empty() && options.probe_paths.empty() &&
                        options.make_homes.empty() && options.look_at_shared.empty() &&
                        options.try_slurm_conf.empty();
    if (serves && !is_name(options.paths.machine)) {
        std::cerr << "llmgw-slurm-helper: " << shown(options.paths.machine)
                  << " is no name of a machine: " << name_rule << "; say --machine\n";
        return usage_error;
    }
    std::array<char, 4096> self{};
    if (::readlink("/proc/self/exe", self.data(), self.size() - 1) > 0) options.paths.inspector = self.data();
    options.paths.proof = options.run_dir + "/proven";
    leave = false;
    return 0;
}

}  // namespace llmgw::daemon
