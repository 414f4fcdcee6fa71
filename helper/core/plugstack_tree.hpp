// plugstack.conf with the files that it includes, and the stack that Slurm makes of them: each line with its
// place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plugstack.hpp"
#include "core/result.hpp"

namespace llmgw {

struct PlacedLine {
    PlugstackLine line;
    std::string file;
    std::size_t number = 0;  // from 1

    bool operator==(const PlacedLine&) const = default;
    [[nodiscard]] std::string place() const { return file + ":" + std::to_string(number); }
};

struct PlacedInclude {
    std::string pattern;  // absolute
    std::string file;
    std::size_t number = 0;

    bool operator==(const PlacedInclude&) const = default;
};

struct ResolvedStack {
    std::vector<PlacedLine> lines;        // plugins, in the order in which Slurm loads them
    std::vector<PlacedInclude> includes;  // in the order in which they are followed
    std::vector<std::string> files;       // that were read, each once

    bool operator==(const ResolvedStack&) const = default;
    [[nodiscard]] Plugstack stack() const;
};

// Where the files come from: a disk, or a tree of texts.
class StackSource {
  public:
    virtual ~StackSource() = default;
    // Nothing: no such file.
    virtual Result<std::optional<std::string>> text(const std::string& path) = 0;
    // Sorted as by strcmp(3), since Slurm's programs set no locale.
    virtual std::vector<std::string> matches(const std::string& pattern) = 0;
};

// A missing file is an empty stack (Slurm: 22.05 plugstack.c:563). An include is relative to the directory of
// the file that has it; one that matches nothing adds nothing. Errors: too many includes or lines, a line
// that Slurm would cut in two, and what the source says.
Result<ResolvedStack> resolve_stack(const std::string& main, StackSource& source);

struct PlugstackTree {
    std::string main;
    std::map<std::string, std::string> files;  // by path; one that no include matches counts for nothing

    bool operator==(const PlugstackTree&) const = default;
};

Result<ResolvedStack> resolve_stack(const PlugstackTree& tree);

}  // namespace llmgw
