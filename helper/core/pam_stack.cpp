#include "core/pam_stack.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/limits.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::array types{"auth", "account", "session", "password"};

struct Joined {
    std::string text;
    int line = 0;
};

// A backslash at the end joins a line with the next one; what is behind # is a comment.
std::vector<Joined> joined_lines(std::string_view text) {
    std::vector<Joined> joined;
    bool goes_on = false;
    int number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        line = line.substr(0, line.find('#'));
        const bool continues = line.ends_with('\\');
        if (continues) line.remove_suffix(1);
        if (goes_on) {
            joined.back().text += " " + std::string(line);
        } else {
            joined.push_back({std::string(line), number});
        }
        goes_on = continues;
    }
    return joined;
}

// Words between blanks; one in brackets is one word.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    while (!(line = trimmed(line)).empty()) {
        const std::size_t end = line.front() == '[' ? line.find(']') : line.find_first_of(" \t");
        const std::size_t length = end == std::string_view::npos ? line.size()
                                   : line.front() == '['         ? end + 1
                                                                 : end;
        words.emplace_back(line.substr(0, length));
        line.remove_prefix(length);
    }
    return words;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

class Reader {
  public:
    explicit Reader(const PamFiles& files) : files_(files) {}

    // `only`: of that type alone, as "TYPE include FILE" has it; empty: all.
    void read(const std::string& name, const std::string& only) {
        if (std::find(open_.begin(), open_.end(), name) != open_.end()) return;
        if (open_.size() > limits::pam_include_depth) return;
        const std::optional<std::string> text = files_(name);
        if (!text) return;
        open_.push_back(name);
        for (const Joined& line : joined_lines(*text)) take(name, line, only);
        open_.pop_back();
    }
    std::vector<PamLine> lines;

  private:
    void take(const std::string& name, const Joined& line, const std::string& only) {
        std::vector<std::string> words = words_of(line.text);
        if (words.size() == 2 && words[0] == "@include") return read(words[1], only);
        if (words.size() < 3) return;
        // With a dash a module that is missing is not logged.
        std::string type = lower(words[0].starts_with('-') ? words[0].substr(1) : words[0]);
        if (std::find(types.begin(), types.end(), type) == types.end()) return;
        if (!only.empty() && type != only) return;
        const std::string control = lower(words[1]);
        if (control == "include" || control == "substack") return read(words[2], type);
        lines.push_back({std::move(type), control, std::move(words[2]), {}, name, line.line});
        lines.back().words.assign(words.begin() + 3, words.end());
    }

    const PamFiles& files_;
    std::vector<std::string> open_;
};

}  // namespace

bool PamLine::is(std::string_view name) const {
    const std::string_view path = module;
    return path.substr(path.rfind('/') + 1) == name;
}

std::string PamLine::place() const {
    return file + ":" + std::to_string(line);
}

std::vector<PamLine> pam_lines(const PamFiles& files, const std::string& service) {
    Reader reader(files);
    reader.read(service, "");
    return std::move(reader.lines);
}

std::string text_of(const std::vector<PamLine>& lines) {
    std::string text;
    for (const PamLine& line : lines) {
        text += line.type + " " + line.control + " " + line.module;
        for (const std::string& word : line.words) text += " " + word;
        text += "\n";
    }
    return text;
}

}  // namespace llmgw
