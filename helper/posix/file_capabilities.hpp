// Capabilities that a program's file gives to whoever runs it.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.hpp"

namespace llmgw {

inline constexpr unsigned cap_sys_admin = 21;
inline constexpr unsigned cap_mknod = 27;

// A bit for each capability that is permitted and effective; 0: it has none, or it is on a file system
// mounted with nosuid, where they don't count. Errors: missing, internal.
Result<std::uint64_t> file_capabilities(const std::string& path);

}  // namespace llmgw
