// A change to one file, as a value that knows what it was computed from.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace llmgw {

struct FileEdit {
    std::string path;
    std::optional<std::string> before;  // nothing: there is no such file
    std::optional<std::string> after;   // nothing: it is removed
    unsigned mode = 0644;               // of a file that is made; one that is there keeps its own
    bool make_directory = false;        // the directory, 0755, if it is missing

    bool operator==(const FileEdit&) const = default;
};

// To be done in this order, all or none (posix/apply_edits.hpp).
using FileEdits = std::vector<FileEdit>;

}  // namespace llmgw
