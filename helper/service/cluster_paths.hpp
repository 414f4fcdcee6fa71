// What gathering facts about Slurm and changing it have in common.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/cluster_facts.hpp"
#include "posix/file.hpp"

namespace llmgw::service {

inline constexpr const char* systemctl = "/usr/bin/systemctl";
inline constexpr const char* scontrol = "/usr/bin/scontrol";
inline constexpr const char* munge_key_file = "/etc/munge/munge.key";

// Of `systemctl show --timestamp=unix`, by name of unit.
std::map<std::string, UnitFacts> parse_units(std::string_view text);

// Nothing: there is no such user.
std::optional<FileOwner> owner_named(const char* name);

}  // namespace llmgw::service
