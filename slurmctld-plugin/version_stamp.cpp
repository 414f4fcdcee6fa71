#include "version_stamp.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace llmgw::gate {
namespace {

// Slurm's version number: a byte each for major, minor and micro.
constexpr std::uint32_t major_minor = 0xffff00;

struct Search {
    std::uint32_t built_for;
    std::uint32_t found;
};

bool looks_like_a_slurm_plugin(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return false;
    const std::string_view name = path.substr(slash + 1);
    // Our own stamp is what is being asked for.
    return name.ends_with(".so") && !name.starts_with("lib") && name != "job_submit_llmgw.so";
}

int look_at(dl_phdr_info* object, std::size_t, void* data) {
    auto* search = static_cast<Search*>(data);
    if (object->dlpi_name == nullptr || !looks_like_a_slurm_plugin(object->dlpi_name)) return 0;
    void* handle = ::dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return 0;
    const auto* type = static_cast<const char*>(::dlsym(handle, "plugin_type"));
    const auto* version = static_cast<const std::uint32_t*>(::dlsym(handle, "plugin_version"));
    // A plugin of type "spank" may have another micro version; all others are "kind/name".
    const bool fits = type != nullptr && version != nullptr && std::strchr(type, '/') != nullptr &&
                      (*version & major_minor) == (search->built_for & major_minor);
    if (fits) search->found = *version;
    ::dlclose(handle);
    return fits ? 1 : 0;
}

}  // namespace

std::uint32_t stamp_of_running_slurm(std::uint32_t built_for) noexcept {
    Search search{built_for, built_for};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}

}  // namespace llmgw::gate
