// Tokens and keys in files.
#pragma once

#include <string>

#include "core/result.hpp"

namespace llmgw {

// A file that holds one secret, without the line break at its end. It must be a regular file and no symbolic
// link, belong to root or to the user of this process, and grant nothing to anyone else (mode 0600 or less);
// denied otherwise, with what to do. missing, too_large, internal as for read_file(); empty: invalid.
Result<std::string> read_secret(const std::string& path);

// `bytes` of the kernel's random numbers.
Result<std::string> random_bytes(std::size_t bytes);
// `bytes` (at most 256) of the kernel's random numbers, as twice as many hexadecimal digits.
Result<std::string> random_hex(std::size_t bytes);

}  // namespace llmgw
