// One line on standard error, with the priority that the journal understands where it reads there
// (sd-daemon(3)).
#pragma once

#include <string>

namespace llmgw {

enum class Level { error = 3, warning = 4, info = 6 };

// Control characters in `message` become spaces.
void log(Level level, const std::string& message);

}  // namespace llmgw
