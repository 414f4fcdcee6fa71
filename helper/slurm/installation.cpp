#include "slurm/installation.hpp"

#include <glob.h>
#include <unistd.h>

#include <vector>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/process.hpp"
#include "slurm/nobody.hpp"

namespace llmgw::slurm {
namespace {

constexpr const char* programs[] = {"/usr/sbin/slurmd",    "/usr/local/sbin/slurmd",
                                    "/usr/sbin/slurmctld", "/usr/local/sbin/slurmctld",
                                    "/usr/bin/srun",       "/usr/local/bin/srun"};
constexpr const char* libraries[] = {"/usr/lib/*/slurm-wlm/libslurmfull.so",
                                     "/usr/lib64/slurm/libslurmfull.so", "/usr/lib/*/slurm/libslurmfull.so",
                                     "/usr/lib/slurm/libslurmfull.so",
                                     "/usr/local/lib/slurm/libslurmfull.so"};

Result<std::string> find_library() {
    for (const char* pattern : libraries) {
        glob_t matches{};
        const bool found = ::glob(pattern, 0, nullptr, &matches) == 0 && matches.gl_pathc > 0;
        const std::string path = found ? matches.gl_pathv[0] : "";
        ::globfree(&matches);
        if (found) return path;
    }
    return Error{Code::missing, "libslurmfull.so is nowhere that packages put it; say --slurm-library"};
}

Result<std::string> find_program() {
    for (const char* program : programs) {
        if (::access(program, X_OK) == 0) return std::string(program);
    }
    return Error{Code::missing, "neither slurmd, slurmctld nor srun is installed"};
}

Result<std::string> version_of(const std::string& program) {
    Command command;
    command.argv = {program, "-V"};
    run_as_nobody(command);
    const Result<Outcome> outcome = run(command);
    if (!outcome) return outcome.error();
    const std::string version = version_in(outcome.value().output);
    if (!outcome.value().success() || version.empty()) {
        return Error{Code::invalid, program + " -V says " + shown(last_line(outcome.value().output))};
    }
    return version;
}

}  // namespace

std::string version_in(const std::string& output) {
    // Standard error, with whatever a program complains about, comes in the same output.
    for (const std::string_view line : split(output, '\n')) {
        const std::vector<std::string_view> words = split(line.substr(0, line.find('\r')), ' ');
        if (words.size() != 2 || !words[0].starts_with("slurm") || words[0].ends_with(':')) continue;
        const std::string_view version = words[1];
        const bool numbered = !version.empty() && version[0] >= '0' && version[0] <= '9';
        if (numbered && version.find_first_not_of("0123456789.-rcpe") == std::string_view::npos) {
            return std::string(version);
        }
    }
    return {};
}

Result<Installation> find_installation(const std::string& library) {
    Remembered<std::string> nothing;
    return find_installation(library, nothing);
}

Result<Installation> find_installation(const std::string& library, Remembered<std::string>& versions) {
    const Result<std::string> program = find_program();
    if (!program) return program.error();
    const Result<std::string> path = library.empty() ? find_library() : Result<std::string>(library);
    // The program has its version from the library.
    const std::string state = path ? stamps_of({program.value(), path.value()}) : "";
    const Result<std::string> version =
        versions.get(program.value(), state, [&] { return version_of(program.value()); });
    if (!version) return version.error();
    if (!path) return path.error();
    return Installation{program.value(), version.value(), path.value()};
}

}  // namespace llmgw::slurm
