// Reading and replacing small files. Everything that reads or writes a file of the suite goes through here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw {

// What tells one content of a path from the next without reading it. Equal stamps of a path whose directory
// only root can write mean that nobody replaced or rewrote the file: rename changes ino, a write changes
// ctime.
struct FileStamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::int64_t ctime_ns = 0;

    bool operator==(const FileStamp&) const = default;
    // "dev:ino:size:mtime_ns:ctime_ns", decimal, as in the node file.
    [[nodiscard]] std::string text() const;
};

// Follows symbolic links, since libraries and programs are often reached through one.
// Errors: missing, internal.
Result<FileStamp> stamp_of(const std::string& path);

// A file that an admin or we wrote. At most max_bytes (too_large beyond). A directory, device or pipe:
// invalid. Never blocks on a pipe.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

struct StateFile {
    std::string content;
    FileStamp stamp;
};

// A state file that plugins trust: besides the above it must not be a symbolic link, must belong to root or
// to the user of this process, and nobody else may write it (denied otherwise).
Result<StateFile> read_state_file(const std::string& path, std::size_t max_bytes);

// Whether a state file is there, may be trusted, and says exactly this.
bool state_file_says(const std::string& path, std::string_view content);

enum class Durability {
    volatile_,  // for /run: gone at the next boot anyway
    durable,    // synced before its name appears, and its directory after
};

struct FileOwner {
    uid_t uid = 0;
    gid_t gid = 0;
};

// Writes a temporary file beside `path` with its final mode and renames it over it, so that a reader sees the
// old or the new content and never half of one. The directory must exist. On an error the old content stays,
// unless only the directory could not be synced. With `owner` it is theirs before it has any content.
Result<void> write_file_atomically(const std::string& path, std::string_view content, mode_t mode,
                                   Durability durability, std::optional<FileOwner> owner = std::nullopt);

// Makes `path` and missing parents (mode 0755 for those, `mode` for the last). Existing ones are left as they
// are.
Result<void> make_directories(const std::string& path, mode_t mode);

// One that isn't there is no error.
Result<void> remove_file(const std::string& path);

// "Permission denied" and so on, thread-safe.
std::string reason_of(int error_number);

}  // namespace llmgw
