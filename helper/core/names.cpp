#include "core/names.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace llmgw {

namespace {

bool inner(char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '-';
}

}  // namespace

bool is_name(std::string_view text) noexcept {
    if (text.empty() || text.size() > limits::name_bytes || !is_alphanumeric(text.front())) return false;
    return std::all_of(text.begin(), text.end(), inner);
}

bool is_login(std::string_view text) noexcept {
    if (text.empty() || text.size() > limits::login_bytes) return false;
    if (!is_alphanumeric(text.front()) && text.front() != '_') return false;
    return std::all_of(text.begin(), text.end(), inner);
}

}  // namespace llmgw
