// Bytes as text (RFC 4648, with padding): the munge key on its way from the leader.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw {

std::string base64_of(std::string_view bytes);
// Error (invalid): a character, a length or a padding that it can't have.
Result<std::string> from_base64(std::string_view text);

}  // namespace llmgw
