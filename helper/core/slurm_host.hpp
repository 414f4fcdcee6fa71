// What slurm.conf says about this host, as far as logins need it: where slurmd keeps its steps' sockets, and
// which hosts are controllers. Pure; the files are read by posix/step_sockets.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

struct SlurmHost {
    std::string spool;                     // a pattern of glob(3): %n and %h can be anything
    std::vector<std::string> controllers;  // host names

    bool operator==(const SlurmHost&) const = default;
};

// `text` is a slurm.conf with its includes.
SlurmHost parse_slurm_host(std::string_view text);

// Whether a host called `host`, with its domain or without, is one of them.
bool is_controller(const SlurmHost& slurm, std::string_view host);

}  // namespace llmgw
