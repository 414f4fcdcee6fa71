// The rules for what settings say, all of them at once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/settings.hpp"

namespace llmgw {

// Every rule that does not hold, in the order of the keys in docs/settings.md. Not enabled: nothing is
// checked. `unread` are keys of which parse_settings() already complained; their rules are left out.
[[nodiscard]] std::vector<SettingError> check_settings(const Settings& settings,
                                                       const std::set<std::string>& unread = {});

}  // namespace llmgw
