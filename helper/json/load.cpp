#include "json/load.hpp"

#include <algorithm>
#include <cstdint>

#include "core/shown.hpp"
#include "json/handle.hpp"
#include "json/scan.hpp"

namespace llmgw::json {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

Value to_value(const json_t* from);

Value array_to_value(const json_t* from) {
    Value::Array entries;
    entries.reserve(json_array_size(from));
    for (std::size_t index = 0; index < json_array_size(from); ++index) {
        entries.push_back(to_value(json_array_get(from, index)));
    }
    return entries;
}

Value object_to_value(const json_t* from) {
    Value::Object members;
    members.reserve(json_object_size(from));
    // jansson's iterators take what they don't change as non-const; since 2.8 they go in the order written.
    auto* object = const_cast<json_t*>(from);
    for (void* at = json_object_iter(object); at != nullptr; at = json_object_iter_next(object, at)) {
        members.emplace_back(json_object_iter_key(at), to_value(json_object_iter_value(at)));
    }
    return members;
}

Value to_value(const json_t* from) {
    switch (json_typeof(from)) {
        case JSON_OBJECT:
            return object_to_value(from);
        case JSON_ARRAY:
            return array_to_value(from);
        case JSON_STRING:
            return std::string(json_string_value(from), json_string_length(from));
        case JSON_INTEGER:
            return std::int64_t{json_integer_value(from)};
        case JSON_REAL:
            return json_real_value(from);
        case JSON_TRUE:
            return true;
        case JSON_FALSE:
            return false;
        case JSON_NULL:
            break;
    }
    return {};
}

Document failed(Problem problem) {
    Document document;
    document.problems.push_back(std::move(problem));
    return document;
}

Problem at_place(const Place& place, std::string message, Code code = Code::invalid) {
    return {code, "", std::move(message), place.line, place.column};
}

Problem syntax_problem(const json_error_t& error) {
    const Place place{std::max(error.line, 1), std::max(error.column, 1)};
    switch (json_error_code(&error)) {
        case json_error_null_character:
        case json_error_null_byte_in_key:
            return at_place(place, "\\u0000 is not allowed in text");
        case json_error_stack_overflow:
            return at_place(place, "nested too deeply", Code::too_large);
        case json_error_out_of_memory:
            return at_place(place, "not enough memory to read it", Code::internal);
        default:
            return at_place(place, "not JSON: " + printable(error.text, sizeof error.text));
    }
}

// What keeps a text from being looked at as JSON at all.
std::optional<Problem> unreadable(std::string_view text, const Limits& within) {
    if (text.size() > within.bytes) {
        return Problem{Code::too_large, "", "larger than " + std::to_string(within.bytes) + " bytes", 0, 0};
    }
    if (text.starts_with(byte_order_mark)) {
        return at_place({}, "begins with a byte order mark: save it as UTF-8 without one");
    }
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return at_place(place_of(text, nul), "has a NUL byte: save it as UTF-8");
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return Problem{Code::invalid, "", "empty: not even {} is in it", 0, 0};
    }
    return std::nullopt;
}

Problem repeated_problem(const Repeated& repeated) {
    const auto where = [](const Place& place) {
        return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
    };
    const std::string times = repeated.times == 2 ? "twice" : std::to_string(repeated.times) + " times";
    return {Code::invalid, repeated.path,
            "written " + times + ", first in " + where(repeated.first) + ", last in " + where(repeated.last) +
                ": keep one",
            repeated.last.line, repeated.last.column};
}

}  // namespace

Document load(std::string_view text, const Limits& within) {
    if (auto problem = unreadable(text, within)) return failed(std::move(*problem));

    json_error_t error;
    // Lenient about both ends of what is checked below, where all of it is found and not only the first.
    const Handle root(json_loadb(text.data(), text.size(), JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error));
    if (!root) return failed(syntax_problem(error));

    const std::size_t end = std::min(text.size(), static_cast<std::size_t>(std::max(error.position, 0)));
    const Scan found = scan(text.substr(0, end), within.depth);
    if (found.too_deep) {
        return failed(at_place(*found.too_deep,
                               "nested more than " + std::to_string(within.depth) + " levels deep",
                               Code::too_large));
    }
    Document document;
    if (const std::size_t rest = text.find_first_not_of(" \t\r\n", end); rest != std::string_view::npos) {
        document.problems.push_back(
            at_place(place_of(text, rest), "something comes after the end of the document, " +
                                               shown(text.substr(rest), 20) + ": remove it"));
    }
    for (const Repeated& repeated : found.repeated) document.problems.push_back(repeated_problem(repeated));
    document.root = to_value(root.get());
    return document;
}

Result<Value> parse(std::string_view text, const Limits& within) {
    Document document = load(text, within);
    if (document.problems.empty()) return std::move(*document.root);
    const Problem& first = document.problems.front();
    if (!first.key.empty()) return Error{first.code, first.key + ": " + first.message};
    if (first.line == 0) return Error{first.code, first.message};
    return Error{first.code, "line " + std::to_string(first.line) + ", column " +
                                 std::to_string(first.column) + ": " + first.message};
}

}  // namespace llmgw::json
