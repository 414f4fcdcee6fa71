#include "posix/file_capabilities.hpp"

#include <sys/statvfs.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>

#include "posix/file.hpp"

namespace llmgw {
namespace {

// struct vfs_cap_data (linux/capability.h), little-endian: revision and flags, then permitted and inheritable
// for the lower and the upper half.
constexpr std::size_t longest = 24;
constexpr std::size_t both_halves = 20;
constexpr std::uint32_t effective = 1;

std::uint32_t number_at(const std::array<unsigned char, longest>& bytes, std::size_t at) {
    return static_cast<std::uint32_t>(bytes[at]) | static_cast<std::uint32_t>(bytes[at + 1]) << 8U |
           static_cast<std::uint32_t>(bytes[at + 2]) << 16U |
           static_cast<std::uint32_t>(bytes[at + 3]) << 24U;
}

}  // namespace

Result<std::uint64_t> file_capabilities(const std::string& path) {
    struct statvfs system {};
    std::array<unsigned char, longest> bytes{};
    if (::statvfs(path.c_str(), &system) != 0) {
        return Error{errno == ENOENT ? Code::missing : Code::internal,
                     "cannot stat " + path + ": " + reason_of(errno)};
    }
    if ((system.f_flag & ST_NOSUID) != 0) return 0;
    const ssize_t got = ::getxattr(path.c_str(), "security.capability", bytes.data(), bytes.size());
    if (got < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) return 0;
    if (got < 0) {
        return Error{Code::internal, "cannot read the capabilities of " + path + ": " + reason_of(errno)};
    }
    if (static_cast<std::size_t>(got) < both_halves || (number_at(bytes, 0) & effective) == 0) return 0;
    return static_cast<std::uint64_t>(number_at(bytes, 4)) | static_cast<std::uint64_t>(number_at(bytes, 12))
                                                                 << 32U;
}

}  // namespace llmgw
