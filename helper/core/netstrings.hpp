// A list of texts as one text, for a message between two of our own processes: "3:abc,0:,". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

std::string pack_netstrings(const std::vector<std::string>& texts);

// Nothing: it isn't exactly such a list.
std::optional<std::vector<std::string>> unpack_netstrings(std::string_view packed);

}  // namespace llmgw
