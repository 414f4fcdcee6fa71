#include "posix/loaded_object.hpp"

#include <link.h>

namespace llmgw {
namespace {

struct Search {
    std::string_view file_name;
    const char* found = nullptr;
};

int look_at(dl_phdr_info* object, std::size_t, void* data) {
    auto* search = static_cast<Search*>(data);
    const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
    if (path.size() <= search->file_name.size() || !path.ends_with(search->file_name)) return 0;
    if (path[path.size() - search->file_name.size() - 1] != '/') return 0;
    search->found = object->dlpi_name;
    return 1;
}

}  // namespace

std::string loaded_from(std::string_view file_name) {
    Search search{file_name};
    dl_iterate_phdr(look_at, &search);
    return search.found == nullptr ? std::string() : std::string(search.found);
}

}  // namespace llmgw
