#include "slurm/plugstack_files.hpp"

#include <glob.h>

#include <algorithm>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw::slurm {
namespace {

constexpr std::size_t file_bytes = 1024 * 1024;

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

struct Matches {
    glob_t list{};
    Matches() = default;
    Matches(const Matches&) = delete;
    Matches& operator=(const Matches&) = delete;
    ~Matches() { ::globfree(&list); }
};

class Reader {
  public:
    Result<void> read(const std::string& path, std::size_t depth) {
        if (depth > limits::plugstack_depth) return Error{Code::invalid, path + " is included too deeply"};
        note_directory(directory_of(path));
        const Result<std::string> text = read_file(path, file_bytes);
        if (!text && text.error().code == Code::missing) return {};
        if (!text) return text.error();
        for (const std::string_view line : split(text.value(), '\n')) {
            if (++lines_ > limits::plugstack_lines) {
                return Error{Code::too_large, path + " makes too many lines"};
            }
            if (Result<void> taken = take_line(line, path, depth); !taken) return taken;
        }
        return {};
    }

    PlugstackFiles take() { return std::move(files_); }

  private:
    Result<void> take_line(std::string_view line, const std::string& path, std::size_t depth) {
        PlugstackLine parsed = parse_plugstack_line(line);
        if (parsed.kind == PlugstackLine::Kind::include)
            return include(parsed.path, directory_of(path), depth);
        if (parsed.kind == PlugstackLine::Kind::plugin) files_.stack.push_back(std::move(parsed));
        return {};
    }

    Result<void> include(const std::string& pattern, const std::string& directory, std::size_t depth) {
        const std::string whole = pattern.starts_with('/') ? pattern : directory + "/" + pattern;
        note_directory(directory_of(whole));
        Matches matches;
        if (::glob(whole.c_str(), 0, nullptr, &matches.list) != 0) return {};
        for (std::size_t i = 0; i < matches.list.gl_pathc; ++i) {
            if (Result<void> done = read(matches.list.gl_pathv[i], depth + 1); !done) return done;
        }
        return {};
    }

    void note_directory(const std::string& directory) {
        std::vector<std::string>& known = files_.directories;
        if (std::find(known.begin(), known.end(), directory) == known.end()) known.push_back(directory);
    }

    PlugstackFiles files_;
    std::size_t lines_ = 0;
};

}  // namespace

Result<PlugstackFiles> read_plugstack(const std::string& path) {
    Reader reader;
    if (Result<void> done = reader.read(path, 0); !done) return done.error();
    return reader.take();
}

}  // namespace llmgw::slurm
