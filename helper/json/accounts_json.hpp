// llmgw's accounts in JSON: GET /slurm/v1/accounts, the embedded leader's accounts.json and the helper's
// copy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/accounts.hpp"

namespace llmgw::json {

// A text's accounts, with every error of the document and of what it says.
[[nodiscard]] ReadAccounts read_accounts_text(std::string_view text);

// All of them in one line, shortened.
[[nodiscard]] std::string sentence_of(const std::vector<SettingError>& errors);

}  // namespace llmgw::json
