// Attack surface: what the PAM module reads in sshd, as root, when a user logs in. Names of sockets in
// SlurmdSpoolDir, slurm.conf, PAM's arguments, /proc/PID/cgroup and mountinfo, the environment of the user's
// own processes (any bytes), their /proc/PID/stat and status, and what the process says that talked to
// slurmstepd. And what llmgw-slurm-login reads as the user: its variable, the command, a container's
// environment. Whatever it is, it is refused, or means exactly what is written there.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/adopt_options.hpp"
#include "core/cgroup_place.hpp"
#include "core/container_login.hpp"
#include "core/extern_step.hpp"
#include "core/job_containers.hpp"
#include "core/limits.hpp"
#include "core/login_taken.hpp"
#include "core/login_verdict.hpp"
#include "core/netstrings.hpp"
#include "core/slurm_host.hpp"
#include "core/text.hpp"
#include "fuzz/promise.hpp"

namespace llmgw::fuzz {

inline void login_socket(std::string_view text) {
    if (const auto step = parse_extern_socket(text)) {
        must(step->socket() == "/" + std::string(text));
        must(step->node.find('/') == std::string::npos && step->job > 0);
    }
}

inline void login_arguments(std::string_view text) {
    const std::vector<std::string_view> words = split(text, '\n');
    const AdoptOptions options = parse_adopt_options(words);
    must(options.problems.size() <= words.size() && options.wait <= limits::most_step_wait);
    for (const std::string& problem : options.problems) must(one_printable_line(problem));
    for (const auto* paths : {&options.spool, &options.conf}) {
        for (const std::string& path : *paths) must(path.starts_with('/'));
    }
    const SlurmHost host = parse_slurm_host(text);
    for (const std::string& controller : host.controllers) must(is_controller(host, controller));
}

inline void login_cgroups(std::string_view text) {
    const Cgroups cgroups = parse_cgroups(text);
    for (const CgroupLine& line : cgroups) must(line.path.starts_with('/'));
    if (const auto place = extern_step_place(cgroups)) {
        must(place->path.ends_with("/step_extern"));
        const std::vector<std::string> held = held_in(cgroups, *place);
        must(escaped_from(cgroups, *place, held).empty());
        if (const auto directory = cgroup_directory(text, *place)) must(directory->ends_with("/step_extern"));
    }
    must(!escaped_from({}, {"freezer", "/x"}, {"freezer"}).empty());
}

inline void login_variables(std::string_view text) {
    for (const std::string& variable : job_variables(text, 5)) {
        must(one_printable_line(variable) && !variable.starts_with("LD_") && !variable.starts_with("PATH="));
        must(variable.find_first_of("$`'\"\\;&| ") == std::string::npos);
    }
}

inline void login_answer(std::string_view text) {
    if (const auto texts = unpack_netstrings(text)) must(pack_netstrings(*texts) == text);
    if (const auto taken = parse_login_taken(text)) {
        must(parse_login_taken(format_login_taken(taken.value())).value() == taken.value());
    }
}

inline void login_container(std::string_view text) {
    if (const auto container = parse_container(text)) {
        must(container->process > 0 && format_container(*container) == text);
    }
    if (const auto process = parse_process_number(text)) must(*process > 0);
    if (const auto start = start_of_process(text)) must(contains(text, std::to_string(*start)));
    if (const auto user = user_of_process(text)) {
        must(contains(text, "Uid:\t") && contains(text, std::to_string(*user)));
    }
    if (const auto sftp = sftp_request(text)) {
        for (const std::string& server : sftp->servers) must(server.ends_with("/sftp-server"));
    }
    const std::vector<std::string> made = container_environment(text, {"HOME=/h", "SLURM_JOB_ID=5"});
    must(variable(made, "HOME") == "/h" && variable(made, "SLURM_JOB_ID") == "5");
    must(!variable(made, "PATH").empty() || contains(text, "PATH="));
    for (const std::string& each : made) {
        must(each.find('=') != 0 && contains(each, "=") && !each.starts_with("SLURM_STEP"));
    }
}

inline void login(std::string_view text) {
    login_socket(text);
    login_arguments(text);
    login_cgroups(text);
    login_variables(text);
    login_answer(text);
    login_container(text);
}

}  // namespace llmgw::fuzz
