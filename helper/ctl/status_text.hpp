// The helper's description of the cluster, for people.
#pragma once

#include <string>

#include "core/value.hpp"

namespace llmgw::ctl {

std::string status_text(const Value& status);
bool everything_ready(const Value& status);

}  // namespace llmgw::ctl
