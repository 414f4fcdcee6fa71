// Files that somebody less trusted wrote, read by root: nothing of theirs is followed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "core/result.hpp"

namespace llmgw {

// A regular file of `owner` with that one name only, in a directory that is none of a symbolic link; at most
// max_bytes. Never blocks on a pipe. Errors: missing, denied (of another owner, a link, with several names),
// too_large, internal.
Result<std::string> read_untrusted_file(const std::string& directory, const std::string& name, uid_t owner,
                                        std::size_t max_bytes);

// A new directory in `parent` (which is root's) that only `owner` can use; its path.
Result<std::string> make_directory_for(const std::string& parent, uid_t owner);

// Removes what is in a directory, or the whole tree; follows no link, whoever changes it meanwhile. Nothing
// there is no error.
Result<void> empty_directory(const std::string& path);
Result<void> remove_tree(const std::string& path);

}  // namespace llmgw
