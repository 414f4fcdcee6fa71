#include "core/last_words.hpp"

#include <algorithm>
#include <vector>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

std::vector<std::string_view> lines_in(std::string_view output) {
    std::vector<std::string_view> lines;
    for (std::string_view line : split(output, '\n')) {
        // What a terminal would show of a line that was written over itself.
        line = trimmed(line.substr(0, line.find_last_not_of('\r') + 1));
        line.remove_prefix(line.rfind('\r') + 1);
        if (!trimmed(line).empty()) lines.push_back(trimmed(line));
    }
    return lines;
}

std::string clean(const std::string& text) {
    return printable(text, limits::last_words_bytes);
}

bool is_of_make(std::string_view line) {
    return line.starts_with("make:") || line.starts_with("make[");
}

bool is_error(std::string_view line) {
    for (const std::string_view sign : {"error:", "undefined reference", "ld returned"}) {
        if (line.find(sign) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace

std::string last_words(std::string_view output, int lines) {
    const std::vector<std::string_view> all = lines_in(output);
    const std::size_t count = std::min(all.size(), static_cast<std::size_t>(std::max(lines, 0)));
    const std::vector<std::string> last(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    return clean(join(last, "; "));
}

std::string build_failure(std::string_view output) {
    const std::vector<std::string_view> lines = lines_in(output);
    const auto error = std::find_if(lines.begin(), lines.end(), is_error);
    if (error != lines.end()) return clean(std::string(*error));
    const auto last = std::find_if_not(lines.rbegin(), lines.rend(), is_of_make);
    if (last != lines.rend()) return clean(std::string(*last));
    return last_words(output, 1);
}

}  // namespace llmgw
