// Entry points of spank_llmgw_options.so, which stands in for pyxis's options only; see options.hpp for its
// name.
#include "core/boundary.hpp"
#include "options.hpp"

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
const char plugin_name[] = "pyxis";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;

int slurm_spank_init(spank_t spank, int, char**) {
    const auto report = [](const char* entry, const char* what) {
        slurm_error("llmgw: %s: %s", entry, what);
    };
    return llmgw::contained("slurm_spank_init", 0, report, [&] {
        llmgw::options::register_unless_pyxis(spank);
        return 0;
    });
}

}  // extern "C"
