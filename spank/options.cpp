#include "options.hpp"

#include <array>

#include "posix/loaded_object.hpp"

namespace llmgw::options {
namespace {

struct Option {
    const char* name;
    const char* argument;  // nullptr: takes none
    const char* usage;
};

constexpr const char* shapes = "[pyxis, checked on the node] shapes the container, see pyxis";

// pyxis 0.24.0, args.c.
constexpr std::array<Option, 16> pyxis_options{{
    {"container-image", "IMAGE|PATH", "[pyxis, checked on the node] the image to run in"},
    {"container-mounts", "SRC:DST[:FLAGS][,...]", shapes},
    {"container-workdir", "PATH", shapes},
    {"container-name", "NAME", "[pyxis, checked on the node] the container to run in"},
    {"container-save", "PATH", shapes},
    {"container-mount-home", nullptr, shapes},
    {"no-container-mount-home", nullptr, shapes},
    {"container-remap-root", nullptr, shapes},
    {"no-container-remap-root", nullptr, shapes},
    {"container-entrypoint", nullptr, shapes},
    {"no-container-entrypoint", nullptr, shapes},
    {"container-entrypoint-log", nullptr, shapes},
    {"container-writable", nullptr, shapes},
    {"container-readonly", nullptr, shapes},
    {"container-env", "NAME[,NAME...]", shapes},
    {"container-unshare", "NS[,NS...]", shapes},
}};

int accept(int, const char*, int) {
    return 0;
}

// As pyxis does: an empty image or name is a mistake, not a wish for none.
int accept_with_value(int, const char* value, int) {
    if (value != nullptr && *value != '\0') return 0;
    slurm_error("llmgw: --container-...: argument required");
    return -1;
}

}  // namespace

void register_unless_pyxis(spank_t spank) {
    const spank_context_t context = spank_context();
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE) return;
    if (!loaded_from("spank_pyxis.so").empty()) return;
    for (const Option& wanted : pyxis_options) {
        // Slurm copies the table entry (22.05 plugstack.c _spank_plugin_opt_create) and does not write to it.
        spank_option option{};
        option.name = const_cast<char*>(wanted.name);
        option.arginfo = const_cast<char*>(wanted.argument);
        option.usage = const_cast<char*>(wanted.usage);
        option.has_arg = wanted.argument == nullptr ? 0 : 1;
        option.cb = wanted.argument == nullptr ? accept : accept_with_value;
        if (spank_option_register(spank, &option) != ESPANK_SUCCESS) {
            slurm_debug("llmgw: cannot register --%s", wanted.name);
        }
    }
}

}  // namespace llmgw::options
