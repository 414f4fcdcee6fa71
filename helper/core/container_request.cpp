#include "core/container_request.hpp"

#include <cstring>

namespace llmgw {

namespace {

// A job has some 60 entries and almost none begins like one of ours.
bool begins_like_one_of_ours(char first) noexcept {
    return first == '_' || first == 'S' || first == 'P' || first == 'L';
}

// With their lengths, which would otherwise be counted again for every entry.
constexpr auto names = [] {
    std::array<std::string_view, request_variables.size()> views;
    for (std::size_t i = 0; i < views.size(); ++i) views[i] = request_variables[i].name;
    return views;
}();

}  // namespace

Request request_in_entry(std::string_view entry) noexcept {
    if (entry.empty() || !begins_like_one_of_ours(entry.front())) return Request::none;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t length = names[i].size();
        if (entry.size() > length + 1 && entry[length] == '=' && entry.starts_with(names[i])) {
            return request_variables[i].request;
        }
    }
    return Request::none;
}

Request request_in_entry(const char* entry) noexcept {
    // A name, '=', and one byte of the value.
    constexpr std::size_t enough = 80;
    if (!begins_like_one_of_ours(*entry)) return Request::none;
    return request_in_entry(std::string_view(entry, ::strnlen(entry, enough)));
}

const char* describe(Request request) noexcept {
    switch (request) {
        case Request::none:
            return "nothing";
        case Request::image_option:
            return "--container-image";
        case Request::name_option:
            return "--container-name";
        case Request::image_variable:
            return "the variable PYXIS_CONTAINER_IMAGE";
        case Request::name_variable:
            return "the variable PYXIS_CONTAINER_NAME";
        case Request::oci:
            return "--container";
        case Request::mark:
            return "a container option or variable";
    }
    return "a container";
}

}  // namespace llmgw
