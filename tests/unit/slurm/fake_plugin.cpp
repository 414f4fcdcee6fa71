// What pyxis's library shows to whoever loads it, with one thing wrong each.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#define EXPORTED extern "C" __attribute__((visibility("default"), used))

#ifdef FAKE_OTHER
EXPORTED const char plugin_name[] = "lua";
EXPORTED const char plugin_type[] = "job_submit";
#else
EXPORTED const char plugin_name[] = "pyxis";
EXPORTED const char plugin_type[] = "spank";
EXPORTED const unsigned int plugin_version = 0x160508;
EXPORTED const char log_line[] = "%s: version v0.24.0\0pyxis: version v0.24.0\n";
#endif

#ifdef FAKE_UNRESOLVED
extern "C" void llmgw_test_no_such_symbol();
EXPORTED void calls_what_is_not_there() {
    llmgw_test_no_such_symbol();
}
#endif

namespace {

__attribute__((constructor)) void on_load() {
#ifdef FAKE_HANGING
    for (;;) ::pause();
#endif
#ifdef FAKE_WRITING
    for (const char* path : {FAKE_DIRECTORY "/anyone/mark", FAKE_DIRECTORY "/root-only"}) {
        const int file = ::open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        if (file >= 0) ::close(file);
    }
#endif
#ifdef FAKE_NOISY
    std::puts("llmgw-slurm-plugin 1\nname forged\nend\nhello from a constructor");
    std::fputs("and a warning without a line break", stderr);
#endif
#ifdef FAKE_CRASHING
    std::abort();
#endif
}

#ifdef FAKE_NOISY
__attribute__((destructor)) void on_unload() {
    std::puts("good bye");
}
#endif

}  // namespace
