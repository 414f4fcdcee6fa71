#include "core/plugstack_tree.hpp"

#include <algorithm>
#include <string_view>

#include "core/glob_match.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

class Reader {
  public:
    explicit Reader(StackSource& source) : source_(source) {}

    Result<void> read(const std::string& path, std::size_t depth) {
        if (depth > limits::plugstack_depth) return Error{Code::invalid, path + " is included too deeply"};
        const Result<std::optional<std::string>> text = source_.text(path);
        if (!text) return text.error();
        if (!text.value()) return {};
        std::vector<std::string>& files = resolved_.files;
        if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
        std::size_t number = 0;
        for (const std::string_view line : split(*text.value(), '\n')) {
            ++number;
            if (++lines_ > limits::plugstack_lines) {
                return Error{Code::too_large, path + " makes too many lines"};
            }
            if (Result<void> taken = take_line(line, path, number, depth); !taken) return taken;
        }
        return {};
    }

    ResolvedStack take() { return std::move(resolved_); }

  private:
    Result<void> take_line(std::string_view line, const std::string& path, std::size_t number,
                           std::size_t depth) {
        if (line.size() > limits::plugstack_line_bytes) {
            return Error{Code::too_large,
                         path + ":" + std::to_string(number) + " is longer than Slurm reads a line"};
        }
        PlugstackLine parsed = parse_plugstack_line(line);
        if (parsed.kind == PlugstackLine::Kind::include) return include(parsed.path, path, number, depth);
        if (parsed.kind == PlugstackLine::Kind::plugin)
            resolved_.lines.push_back({std::move(parsed), path, number});
        return {};
    }

    Result<void> include(const std::string& pattern, const std::string& file, std::size_t number,
                         std::size_t depth) {
        const std::string whole = pattern.starts_with('/') ? pattern : directory_of(file) + "/" + pattern;
        resolved_.includes.push_back({whole, file, number});
        for (const std::string& match : source_.matches(whole)) {
            if (Result<void> done = read(match, depth + 1); !done) return done;
        }
        return {};
    }

    StackSource& source_;
    ResolvedStack resolved_;
    std::size_t lines_ = 0;
};

class TreeSource final : public StackSource {
  public:
    explicit TreeSource(const PlugstackTree& tree) : tree_(tree) {}

    Result<std::optional<std::string>> text(const std::string& path) override {
        const auto found = tree_.files.find(path);
        if (found == tree_.files.end()) return std::optional<std::string>();
        return std::optional<std::string>(found->second);
    }

    // A map of strings is sorted as by strcmp.
    std::vector<std::string> matches(const std::string& pattern) override {
        std::vector<std::string> paths;
        for (const auto& [path, text] : tree_.files) {
            if (glob_matches(pattern, path)) paths.push_back(path);
        }
        return paths;
    }

  private:
    const PlugstackTree& tree_;
};

}  // namespace

Plugstack ResolvedStack::stack() const {
    Plugstack stack;
    for (const PlacedLine& placed : lines) stack.push_back(placed.line);
    return stack;
}

Result<ResolvedStack> resolve_stack(const std::string& main, StackSource& source) {
    Reader reader(source);
    if (Result<void> done = reader.read(main, 0); !done) return done.error();
    return reader.take();
}

Result<ResolvedStack> resolve_stack(const PlugstackTree& tree) {
    TreeSource source(tree);
    return resolve_stack(tree.main, source);
}

}  // namespace llmgw
