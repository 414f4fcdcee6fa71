// Resolved settings for people.
#pragma once

#include <string>

#include "core/settings.hpp"

namespace llmgw::ctl {

// A few lines, `what: value`. `machines_given`: whether slurm_nodes under all_nodes were worked out with the
// leader's machines, or is only what the settings name.
[[nodiscard]] std::string text_of(const ResolvedSettings& settings, bool machines_given);

}  // namespace llmgw::ctl
