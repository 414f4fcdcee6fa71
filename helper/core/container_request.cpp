#include "core/container_request.hpp"

namespace llmgw {

Request request_in_entry(std::string_view entry) noexcept {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals + 1 == entry.size()) return Request::none;
    const std::string_view name = entry.substr(0, equals);
    // A job has some 60 entries and almost none begins like one of ours.
    if (name.empty() || (name[0] != '_' && name[0] != 'S' && name[0] != 'P' && name[0] != 'L')) {
        return Request::none;
    }
    for (const RequestVariable& variable : request_variables) {
        if (name == variable.name) return variable.request;
    }
    return Request::none;
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
