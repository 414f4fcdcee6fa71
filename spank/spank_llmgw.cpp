// Entry points of spank_llmgw.so. Each returns 0 whatever happens: as an optional plugin it has nothing to
// fail with, and the one thing it refuses, it refuses by ending the task itself.
#include <unistd.h>

#include "core/boundary.hpp"
#include "fence.hpp"
#include "guard.hpp"

using namespace llmgw;

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
const char plugin_name[] = "llmgw";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;
}

namespace {

constexpr int proceed = 0;

void report(const char* entry, const char* what) {
    slurm_error("llmgw: %s: %s", entry, what);
}

}  // namespace

// spank.h declares these without noexcept, and so must we; contained() has it.
extern "C" {

int slurm_spank_init(spank_t spank, int count, char** words) {
    return contained("slurm_spank_init", proceed, report, [&] {
        if (spank_context() == S_CTX_REMOTE) guard::note_step(spank, guard::parse_arguments(count, words));
        return proceed;
    });
}

int slurm_spank_init_post_opt(spank_t spank, int count, char** words) {
    return contained("slurm_spank_init_post_opt", proceed, report, [&] {
        const spank_context_t context = spank_context();
        const bool client = context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR;
        if (client && !guard::parse_arguments(count, words).verify) guard::mark_job(spank);
        return proceed;
    });
}

// A failure of our own lets the job go on: each of its steps is asked about again.
int slurm_spank_job_prolog(spank_t, int count, char** words) {
    return contained("slurm_spank_job_prolog", proceed, report, [&] {
        const guard::Arguments arguments = guard::parse_arguments(count, words);
        if (!arguments.verify) guard::stop_at_fence(arguments);
        return proceed;
    });
}

int slurm_spank_task_init(spank_t spank, int count, char** words) {
    // Refusing can't fail: should even the message be too much, the task still ends.
    const auto closed = [spank](const char* entry, const char* what) {
        report(entry, what);
        if (guard::container_step(spank)) ::_exit(1);
    };
    return contained("slurm_spank_task_init", proceed, closed, [&] {
        guard::admit_task(spank, guard::parse_arguments(count, words));
        return proceed;
    });
}

}  // extern "C"
