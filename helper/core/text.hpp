// Small things done to text that reaches people or state files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

// Bytes below space, and DEL: what would break a line of a file. Everything else passes.
bool has_control_characters(std::string_view text);

// Everything that is not is_harmless() (utf8.hpp) becomes a space, so that a message stays one line and can't
// steer a terminal. For somebody else's text in a message there is shown.hpp.
std::string without_control_characters(std::string_view text);

// Cut to `most` bytes, between characters, with "..." as the last three where something was cut.
std::string shortened(std::string_view text, std::size_t most);

// Pieces between separators; none for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& pieces, std::string_view separator);

bool contains(std::string_view text, std::string_view part);

// The directory that a path's last component is in: "/etc" of "/etc/slurm", "/" of "/etc", "." of a name
// alone.
std::string directory_of(std::string_view path);

// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace llmgw
