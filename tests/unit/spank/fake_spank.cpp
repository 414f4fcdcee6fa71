#include "fake_spank.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

namespace llmgw::fake {
namespace {

void called(const char* name) {
    Spank& state = spank();
    state.calls.emplace_back(name);
    if (!state.thrower.empty() && state.thrower != name) return;
    switch (state.throws) {
        case Throws::nothing:
            return;
        case Throws::bad_alloc:
            throw std::bad_alloc();
        case Throws::runtime_error:
            throw std::runtime_error("thrown by the fake");
        case Throws::number:
            throw 7;
    }
}

[[gnu::format(printf, 2, 0)]] void log(const char* level, const char* format, va_list arguments) {
    char text[4096];
    std::vsnprintf(text, sizeof text, format, arguments);
    spank().log.push_back(std::string(level) + ": " + text);
    std::fprintf(stderr, "%s: %s\n", level, text);
}

}  // namespace

Spank& spank() {
    static Spank* const only = new Spank;
    return *only;
}

void reset() {
    spank() = Spank{};
}

spank_t handle() {
    return reinterpret_cast<spank_t>(&spank());
}

}  // namespace llmgw::fake

namespace {
// slurm_errno.h gives success no enumerator.
constexpr auto success = static_cast<spank_err_t>(ESPANK_SUCCESS);
}  // namespace

using llmgw::fake::called;
using llmgw::fake::spank;

extern "C" {

spank_context_t spank_context(void) {
    called("spank_context");
    return spank().context;
}

spank_err_t spank_getenv(spank_t, const char* name, char* buffer, int size) {
    called("spank_getenv");
    const auto found = spank().environment.find(name);
    if (found == spank().environment.end()) return ESPANK_ENV_NOEXIST;
    // As strlcpy in 22.05 plugstack.c: what fits, and a zero.
    std::snprintf(buffer, static_cast<std::size_t>(size), "%s", found->second.c_str());
    return found->second.size() >= static_cast<std::size_t>(size) ? ESPANK_NOSPACE : success;
}

spank_err_t spank_get_item(spank_t, spank_item_t item, ...) {
    called("spank_get_item");
    va_list arguments;
    va_start(arguments, item);
    auto* number = va_arg(arguments, std::uint32_t*);
    va_end(arguments);
    if (item == S_JOB_STEPID) {
        *number = spank().step;
    } else if (item == S_JOB_ID) {
        *number = spank().job;
    } else if (item == S_JOB_NNODES) {
        *number = spank().nodes;
    } else if (item == S_JOB_UID || item == S_JOB_GID) {
        *number = spank().uid;
    } else {
        return ESPANK_BAD_ARG;
    }
    return success;
}

spank_err_t spank_option_getopt(spank_t, struct spank_option* option, char** value) {
    called("spank_option_getopt");
    const auto found = spank().options.find(option->name);
    if (found == spank().options.end()) return ESPANK_ERROR;
    *value = found->second.data();
    return success;
}

spank_err_t spank_option_register(spank_t, struct spank_option* option) {
    called("spank_option_register");
    spank().registered.push_back({option->name, option->has_arg != 0, option->cb});
    return success;
}

spank_err_t spank_job_control_setenv(spank_t, const char* name, const char* value, int) {
    called("spank_job_control_setenv");
    spank().job_control[name] = value;
    return success;
}

spank_err_t spank_job_control_unsetenv(spank_t, const char* name) {
    called("spank_job_control_unsetenv");
    return spank().job_control.erase(name) == 1 ? success : ESPANK_ENV_NOEXIST;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
int slurm_kill_job_step(slurm_step_id_t* id, uint16_t, uint16_t) {
    std::fprintf(stderr, "step %u.%u killed\n", id->job_id, id->step_id);
    return 0;
}
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int slurm_kill_job_step(uint32_t job, uint32_t step, uint16_t, uint16_t) {
    std::fprintf(stderr, "step %u.%u killed\n", job, step);
    return 0;
}
#else
int slurm_kill_job_step(uint32_t job, uint32_t step, uint16_t) {
    std::fprintf(stderr, "step %u.%u killed\n", job, step);
    return 0;
}
#endif

void slurm_error(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    llmgw::fake::log("error", format, arguments);
    va_end(arguments);
}

void slurm_debug(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    llmgw::fake::log("debug", format, arguments);
    va_end(arguments);
}

}  // extern "C"
