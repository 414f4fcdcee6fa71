#include "core/adopt_options.hpp"

#include <charconv>
#include <optional>

#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

std::optional<std::chrono::seconds> seconds_in(std::string_view text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (std::chrono::seconds(number) > limits::most_step_wait) return std::nullopt;
    return std::chrono::seconds(number);
}

std::optional<LoginRole> role_in(std::string_view text) {
    if (text == "auto") return LoginRole::automatic;
    if (text == "node") return LoginRole::node;
    if (text == "none") return LoginRole::none;
    return std::nullopt;
}

bool is_path(std::string_view text) {
    return text.starts_with('/') && !has_control_characters(text);
}

// Whether the argument is one of ours, with a value that is.
bool take(AdoptOptions& options, std::string_view key, std::string_view value) {
    if (key == "admin_group" || key == "service") return !value.empty();
    if (key == "role") {
        const std::optional<LoginRole> role = role_in(value);
        if (role) options.role = *role;
        return role.has_value();
    }
    if (key == "container") {
        options.join_container = value == "join";
        return value == "join" || value == "host";
    }
    if (key == "wait") {
        const std::optional<std::chrono::seconds> wait = seconds_in(value);
        if (wait) options.wait = *wait;
        return wait.has_value();
    }
    if (!is_path(value)) return false;
    if (key == "spool") {
        options.spool.emplace_back(value);
    } else if (key == "conf") {
        options.conf.emplace_back(value);
    } else if (key == "library") {
        options.library = value;
    } else {
        return false;
    }
    return true;
}

}  // namespace

AdoptOptions parse_adopt_options(const std::vector<std::string_view>& arguments) {
    AdoptOptions options;
    for (const std::string_view argument : arguments) {
        const std::size_t equals = argument.find('=');
        const std::string_view key = argument.substr(0, equals);
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
        if (!take(options, key, value)) {
            options.problems.push_back(
                "the argument " + shown(argument) +
                " is none of pam_llmgw_adopt.so's; see pam_llmgw_adopt(8) and mend PAM's configuration");
        }
    }
    return options;
}

}  // namespace llmgw
