#include "core/login_taken.hpp"

#include <charconv>

#include "core/netstrings.hpp"

namespace llmgw {
namespace {

template <class Number>
std::optional<Number> number_in(const std::string& text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

template <class Number>
std::string list_of(const std::vector<Number>& numbers) {
    std::vector<std::string> texts;
    for (const Number number : numbers) texts.push_back(std::to_string(number));
    return pack_netstrings(texts);
}

template <class Number>
bool read_list(const std::string& text, std::vector<Number>& numbers) {
    const std::optional<std::vector<std::string>> texts = unpack_netstrings(text);
    if (!texts) return false;
    for (const std::string& each : *texts) {
        const std::optional<Number> number = number_in<Number>(each);
        if (!number) return false;
        numbers.push_back(*number);
    }
    return true;
}

bool read_texts(const std::string& text, std::vector<std::string>& texts) {
    std::optional<std::vector<std::string>> found = unpack_netstrings(text);
    if (found) texts = std::move(*found);
    return found.has_value();
}

bool read_error(const std::string& text, std::optional<Error>& error) {
    std::vector<std::string> parts;
    if (!read_texts(text, parts)) return false;
    if (parts.empty()) return true;
    const std::optional<int> code = number_in<int>(parts[0]);
    if (parts.size() != 2 || !code || *code < 0 || *code > static_cast<int>(Code::internal)) return false;
    error = Error{static_cast<Code>(*code), parts[1]};
    return true;
}

}  // namespace

std::string format_login_taken(const LoginTaken& taken) {
    std::vector<std::string> error;
    if (taken.error) error = {std::to_string(static_cast<int>(taken.error->code)), taken.error->message};
    return pack_netstrings({taken.step ? std::to_string(*taken.step) : "", std::to_string(taken.slurmstepd),
                            taken.place.tracker, taken.place.path, pack_netstrings(taken.held),
                            list_of(taken.namespaces), list_of(taken.suspended),
                            pack_netstrings(taken.failures), list_of(taken.foreign), pack_netstrings(error)});
}

Result<LoginTaken> parse_login_taken(std::string_view text) {
    const Error garbled{Code::internal, "the process that asks Slurm said something garbled"};
    const std::optional<std::vector<std::string>> fields = unpack_netstrings(text);
    if (!fields || fields->size() != 10) return garbled;
    const std::vector<std::string>& field = *fields;
    LoginTaken taken;
    if (!field[0].empty()) {
        taken.step = number_in<std::size_t>(field[0]);
        if (!taken.step) return garbled;
    }
    const std::optional<std::int64_t> slurmstepd = number_in<std::int64_t>(field[1]);
    if (!slurmstepd) return garbled;
    taken.slurmstepd = *slurmstepd;
    taken.place = {field[2], field[3]};
    if (!read_texts(field[4], taken.held) || !read_list(field[5], taken.namespaces) ||
        !read_list(field[6], taken.suspended) || !read_texts(field[7], taken.failures) ||
        !read_list(field[8], taken.foreign) || !read_error(field[9], taken.error)) {
        return garbled;
    }
    return taken;
}

}  // namespace llmgw
