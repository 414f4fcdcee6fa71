// Does edits of files (core/file_edit.hpp) one after the other, each at once for whoever reads: by rename,
// with the old owner, mode, access list and security label.
#pragma once

#include "core/file_edit.hpp"
#include "core/result.hpp"

namespace llmgw {

// All or none: when one fails, those before it are undone in the reverse order, through the same states.
// Nothing is written through a symbolic link, and nothing but the directory of a file is made. Errors:
// conflict (a file is no longer what the edit was computed from, or is no regular file), denied, internal; if
// undoing failed too, the message says what was left.
Result<void> apply_edits(const FileEdits& edits);

}  // namespace llmgw
