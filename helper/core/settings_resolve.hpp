// From settings that hold to what they mean on this cluster.
#pragma once

#include <string>
#include <vector>

#include "core/settings.hpp"

namespace llmgw {

// `settings` have passed check_settings(). `machines` are the machines that the leader knows, in any order;
// they matter under all_nodes only, and what is no name among them is passed over. Under all_nodes the
// controller runs slurmd as well: it is a machine the leader knows, and is counted before its first report
// too, so that slurm.conf does not change when that arrives.
[[nodiscard]] ResolvedSettings resolve_settings(const Settings& settings,
                                                const std::vector<std::string>& machines);

}  // namespace llmgw
