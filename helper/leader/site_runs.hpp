// Runs one of a site's commands on a node, and says what it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "leader/site_commands.hpp"

namespace llmgw::leader {

struct SiteRun {
    enum class Kind {
        done,     // drain, release: it is so now. replicas: see `replicas`
        refused,  // llmgw will not give the node now
        unknown,  // it has to be run again
    };
    Kind kind = Kind::unknown;
    std::uint32_t replicas = 0;
    std::string reason;  // of refused and unknown: which command said what
};

// `stop`: a descriptor; once it can be read the program is ended, with what it started.
SiteRun run_drain(const SiteCommands& commands, const std::string& node, int stop);
SiteRun run_replicas(const SiteCommands& commands, const std::string& node, int stop);
SiteRun run_release(const SiteCommands& commands, const std::string& node, int stop);

// Only "0" is none: whatever else a program prints is no number of replicas.
std::optional<std::uint32_t> replicas_in(std::string_view output);

}  // namespace llmgw::leader
