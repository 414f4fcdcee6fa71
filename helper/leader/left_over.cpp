#include "leader/left_over.hpp"

#include <algorithm>

#include "core/names.hpp"

namespace llmgw::leader {

bool is_left_over(const std::string& file_name, std::string_view ending) {
    constexpr std::size_t random = 7;
    if (file_name.size() < random) return false;
    const std::string_view rest = std::string_view(file_name).substr(file_name.size() - random);
    return file_name.substr(0, file_name.size() - random).ends_with(ending) && rest.front() == '.' &&
           std::all_of(rest.begin() + 1, rest.end(), is_alphanumeric);
}

}  // namespace llmgw::leader
