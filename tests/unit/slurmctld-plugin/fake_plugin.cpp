// What makes a library look like one of Slurm's plugins.
#include <slurm/slurm_version.h>

#ifndef FAKE_TYPE
#define FAKE_TYPE "select/fake"
#endif
#ifndef FAKE_VERSION_OFFSET
#define FAKE_VERSION_OFFSET 0
#endif

extern "C" {
#ifndef FAKE_NO_TYPE
[[gnu::visibility("default")]] extern const char plugin_type[];
const char plugin_type[] = FAKE_TYPE;
#endif
[[gnu::visibility("default")]] extern const unsigned plugin_version;
const unsigned plugin_version = (SLURM_VERSION_NUMBER ^ 0x20) + FAKE_VERSION_OFFSET;
}
