// What machines, clusters, partitions and people may be called. ASCII only, whatever the locale says.
#pragma once

#include <string_view>

namespace llmgw {

// controller, cluster_name, partition, nodes: a letter or digit, then up to 62 of letters, digits, `_ . -`.
[[nodiscard]] bool is_name(std::string_view text) noexcept;

// A person's login: a letter, digit or `_`, then up to 31 of letters, digits, `_ . -`. It can stand in a path
// as one component: no slash, no leading dot or dash.
[[nodiscard]] bool is_login(std::string_view text) noexcept;

// Letters and digits of ASCII.
[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// For messages, after "use".
inline constexpr std::string_view name_rule = "a letter or digit, then up to 62 of letters, digits, _ . -";
inline constexpr std::string_view login_rule =
    "a letter, digit or _, then up to 31 of letters, digits, _ . -";

}  // namespace llmgw
