#include "posix/log.hpp"

#include <unistd.h>

#include <cstdlib>

#include "core/text.hpp"

namespace llmgw {

void log(Level level, const std::string& message) {
    const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
    const std::string line = (journal ? "<" + std::to_string(static_cast<int>(level)) + ">" : std::string()) +
                             without_control_characters(message) + "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace llmgw
