// The helper's description of the cluster, for people.
#pragma once

#include <string>

#include "core/value.hpp"

namespace llmgw::ctl {

std::string status_text(const Value& status);
bool everything_ready(const Value& status);

// "Slurm's since 14:02" or "emptying since 14:02: job 12 of anna, until 15:00 at most".
std::string lending_text(const Value& lending);

}  // namespace llmgw::ctl
