#include "slurm/plugin_file.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdio>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/state_text.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "slurm/nobody.hpp"

namespace llmgw::slurm {
namespace {

constexpr std::string_view header = "llmgw-slurm-plugin 1";
constexpr std::size_t library_bytes = 64 * 1024 * 1024;
constexpr std::size_t version_bytes = 32;
constexpr std::size_t reason_bytes = 200;

std::string symbol_text(void* library, const char* name) {
    const auto* text = static_cast<const char*>(::dlsym(library, name));
    return text == nullptr ? std::string() : shortened(text, limits::name_bytes);
}

// pyxis has no symbol for its version, but logs it at slurmd's start (0.24.0, pyxis_slurmd.c:28).
std::string pyxis_version(const std::string& path) {
    constexpr std::string_view before = "pyxis: version v";
    const Result<std::string> bytes = read_file(path, library_bytes);
    if (!bytes) return {};
    const std::size_t at = bytes.value().find(before);
    if (at == std::string::npos) return {};
    const std::string_view rest = std::string_view(bytes.value()).substr(at + before.size(), version_bytes);
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

// Our lines among what the library's constructors and the loader printed: the last ones that begin so.
std::string_view state_text_in(std::string_view output) {
    constexpr std::string_view last = "\nend\n";
    const std::size_t begin = output.rfind(header);
    if (begin == std::string_view::npos) return output;
    output.remove_prefix(begin);
    const std::size_t end = output.find(last);
    return end == std::string_view::npos ? output : output.substr(0, end + last.size());
}

std::string why_it_ended(const Outcome& outcome) {
    constexpr int signalled = 128;
    const std::string said = last_line(outcome.output);
    if (!said.empty()) return printable(said, reason_bytes);
    if (outcome.exit_code > signalled) {
        return "signal " + std::to_string(outcome.exit_code - signalled) + " ended it";
    }
    return "exit code " + std::to_string(outcome.exit_code);
}

std::uint32_t number_in(const std::string& text) {
    std::uint32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

int inspect_here(const std::string& library, const std::string& slurm_library) {
    // A failure to open Slurm's own library shows as undefined symbols of the plugin.
    ::dlopen(slurm_library.c_str(), RTLD_LAZY | RTLD_GLOBAL);
    void* opened = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (opened == nullptr) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        return 1;
    }
    const auto* stamp = static_cast<const std::uint32_t*>(::dlsym(opened, "plugin_version"));
    const std::string text =
        format_state_text(header, {{"name", symbol_text(opened, "plugin_name")},
                                   {"type", symbol_text(opened, "plugin_type")},
                                   {"stamp", std::to_string(stamp == nullptr ? 0 : *stamp)},
                                   {"version", pyxis_version(library)}});
    // On a line of its own, whatever was printed before.
    std::fputs(("\n" + text).c_str(), stdout);
    std::fflush(stdout);
    return 0;
}

Result<PluginFacts> inspect_plugin(const std::string& inspector, const std::string& library,
                                   const std::string& slurm_library) {
    Command command;
    command.argv = {inspector, "--inspect-plugin", library, "--slurm-library", slurm_library};
    run_as_nobody(command);
    const Result<Outcome> outcome = run(command);
    if (!outcome) return outcome.error();
    if (!outcome.value().success()) {
        return Error{Code::invalid, library + " does not load: " + why_it_ended(outcome.value())};
    }
    const Result<StateFields> fields = parse_state_text(state_text_in(outcome.value().output), header);
    if (!fields) return fields.error().within("what was found in " + library);
    PluginFacts facts;
    for (const auto& [key, value] : fields.value()) {
        if (value == "-") continue;
        if (key == "name") facts.name = value;
        if (key == "type") facts.type = value;
        if (key == "version") facts.version = value;
        if (key == "stamp") facts.slurm = number_in(value);
    }
    return facts;
}

}  // namespace llmgw::slurm
