#include "core/glob_match.hpp"

#include <cstddef>

namespace llmgw {
namespace {

// Of a pattern that begins with '[': how long the set is, and whether it has `c`. No set: its '[' is an
// ordinary character.
struct Set {
    std::size_t length = 0;
    bool has = false;
};

Set read_set(std::string_view pattern, char c) {
    const bool negated = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
    std::size_t i = negated ? 2 : 1;
    bool found = false;
    bool first = true;
    while (i < pattern.size() && (first || pattern[i] != ']')) {
        first = false;
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        const auto low = static_cast<unsigned char>(pattern[i++]);
        auto high = low;
        if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
            high = static_cast<unsigned char>(pattern[i + 1]);
            i += 2;
        }
        const auto byte = static_cast<unsigned char>(c);
        found = found || (low <= byte && byte <= high);
    }
    if (i >= pattern.size()) return {};
    return {i + 1, found != negated};
}

// One step of a pattern against one character.
Set read_one(std::string_view pattern, char c) {
    if (pattern.front() == '?') return {1, true};
    if (pattern.front() == '[') {
        if (const Set set = read_set(pattern, c); set.length > 0) return set;
    }
    if (pattern.front() == '\\' && pattern.size() > 1) return {2, pattern[1] == c};
    return {1, pattern.front() == c};
}

bool component_matches(std::string_view pattern, std::string_view name) {
    if (name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\.")) return false;
    // Where to go on from when the last '*' has to take one character more.
    std::size_t star = std::string_view::npos;
    std::size_t taken = 0;
    std::size_t p = 0;
    std::size_t n = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = n;
            continue;
        }
        const Set one = p < pattern.size() ? read_one(pattern.substr(p), name[n]) : Set{};
        if (one.length > 0 && one.has) {
            p += one.length;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string_view take_component(std::string_view& path) {
    const std::size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash);
    return component;
}

// glob(3) takes several for one.
void drop_slashes(std::string_view& path) {
    while (path.starts_with('/')) path.remove_prefix(1);
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) {
    if (pattern.starts_with('/') != path.starts_with('/')) return false;
    for (;;) {
        if (pattern.starts_with('/') != path.starts_with('/')) return false;
        drop_slashes(pattern);
        drop_slashes(path);
        if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
        if (!component_matches(take_component(pattern), take_component(path))) return false;
    }
}

bool has_wildcard(std::string_view pattern) {
    return pattern.find_first_of("*?[") != std::string_view::npos;
}

}  // namespace llmgw
