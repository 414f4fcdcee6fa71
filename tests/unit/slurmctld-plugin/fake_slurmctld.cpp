#include "fake_slurmctld.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" void slurm_xfree(void** memory);

namespace llmgw::fake {
namespace {

[[gnu::format(printf, 2, 0)]] void write(const char* level, const char* format, va_list arguments) {
    char text[4096];
    std::vsnprintf(text, sizeof text, format, arguments);
    log().push_back(std::string(level) + ": " + text);
}

}  // namespace

std::vector<std::string>& log() {
    static auto* const lines = new std::vector<std::string>;
    return *lines;
}

Message::~Message() {
    slurm_xfree(reinterpret_cast<void**>(&text_));
}

}  // namespace llmgw::fake

extern "C" {

char* slurm_xstrdup(const char* text) {
    return text == nullptr ? nullptr : ::strdup(text);
}

void slurm_xfree(void** memory) {
    std::free(*memory);
    *memory = nullptr;
}

void slurm_error(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    llmgw::fake::write("error", format, arguments);
    va_end(arguments);
}

void slurm_verbose(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    llmgw::fake::write("verbose", format, arguments);
    va_end(arguments);
}

}  // extern "C"
