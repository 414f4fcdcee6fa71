// Comparing secrets.
#pragma once

#include <string_view>

namespace llmgw {

// Takes as long for a right guess of the first bytes as for a wrong one. Lengths are no secret.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace llmgw
