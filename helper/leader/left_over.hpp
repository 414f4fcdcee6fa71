// What write_file_atomically() leaves beside a file when the leader is killed in the middle.
#pragma once

#include <string>
#include <string_view>

namespace llmgw::leader {

// NAME<ending>.XXXXXX. Nobody else writes into the leader's directories, so it can only be ours.
bool is_left_over(const std::string& file_name, std::string_view ending);

}  // namespace llmgw::leader
