#include "service/slurm_headers.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "core/last_words.hpp"
#include "core/machine_check.hpp"
#include "core/text.hpp"
#include "posix/process.hpp"
#include "slurm/nobody.hpp"

namespace llmgw::service {
namespace {

constexpr std::size_t preprocessed_bytes = 4 * 1024 * 1024;

std::string package_of(const std::string& program, Family family) {
    if (program == "make") return "make";
    if (program == "strip") return "binutils";
    if (program == "tar") return "tar";
    if (program == "gzip") return "gzip";
    return family == Family::deb ? "gcc and libc6-dev" : "gcc";
}

std::string headers_package(Family family) {
    return family == Family::deb ? "libslurm-dev" : "slurm-devel";
}

// The directory that has slurm/NAME, out of a line marker's path.
std::string directory_of_header(std::string_view path) {
    const std::size_t slash = path.rfind("/slurm/");
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

Result<SlurmHeaders> ask(const std::string& compiler, const BuildTools& tools, const std::string& directory) {
    Command command;
    slurm::run_as_nobody(command);
    command.most_output = preprocessed_bytes;
    command.argv = {compiler,        "-E",       "-dD",          "-x", "c", "-include",
                    "slurm/spank.h", "-include", "slurm/slurm.h"};
    if (!directory.empty()) command.argv.insert(command.argv.end(), {"-I", directory});
    command.argv.emplace_back("/dev/null");
    const Result<Outcome> outcome = run(command);
    if (!outcome) return outcome.error().within("asking the compiler for Slurm's headers");
    const std::string& said = outcome.value().output;
    if (outcome.value().success()) {
        SlurmHeaders found = headers_in(said);
        found.ahead = !directory.empty();
        if (!found.version.empty()) return found;
        return Error{Code::invalid, "Slurm's headers say no version"};
    }
    if (said.find("slurm/spank.h: No such file") != std::string::npos ||
        said.find("slurm/slurm.h: No such file") != std::string::npos) {
        return Error{Code::missing, "Slurm's headers (slurm/spank.h) are not installed; install " +
                                        headers_package(tools.family)};
    }
    return Error{Code::missing, compiler + " cannot read Slurm's headers: " + build_failure(said) +
                                    "; install " + join(build_packages(tools.family), ", ")};
}

Result<SlurmHeaders> ask_in(const std::string& compiler, const BuildTools& tools, std::uint32_t wanted) {
    for (const std::string& directory : tools.also) {
        if (::access((directory + "/slurm/spank.h").c_str(), R_OK) != 0) continue;
        Result<SlurmHeaders> found = ask(compiler, tools, directory);
        if (found && stamp_of_version(found.value().version) == wanted) return found;
    }
    return Error{Code::missing, ""};
}

}  // namespace

std::vector<std::string> build_packages(Family family) {
    // gcc only recommends the C library's headers on Debian.
    if (family == Family::deb) return {"gcc", "libc6-dev", "make", "libslurm-dev"};
    return {"gcc", "make", "slurm-devel"};
}

Result<std::string> find_tool(const BuildTools& tools, const std::string& program) {
    for (const std::string_view directory : split(tools.search_path, ':')) {
        std::string path = std::string(directory) + "/" + program;
        if (directory.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
    }
    return Error{Code::missing, program + ", which building pyxis needs, is not installed; install " +
                                    package_of(program, tools.family)};
}

SlurmHeaders headers_in(const std::string& preprocessed) {
    SlurmHeaders found;
    std::string_view file;
    for (const std::string_view line : split(preprocessed, '\n')) {
        constexpr std::string_view marker = "# ";
        constexpr std::string_view definition = "#define SLURM_VERSION_NUMBER ";
        if (line.starts_with(marker)) {
            const std::size_t begin = line.find('"');
            const std::size_t end = line.rfind('"');
            if (begin != end) file = line.substr(begin + 1, end - begin - 1);
        }
        if (!line.starts_with(definition)) continue;
        std::string_view number = trimmed(line.substr(definition.size()));
        std::uint32_t stamp = 0;
        const bool hexadecimal = number.starts_with("0x");
        if (hexadecimal) number.remove_prefix(2);
        std::from_chars(number.data(), number.data() + number.size(), stamp, hexadecimal ? 16 : 10);
        if (stamp != 0) found = {directory_of_header(file), full_version(stamp), false};
    }
    return found;
}

Result<SlurmHeaders> find_slurm_headers(const std::string& slurm_version, const BuildTools& tools) {
    const Result<std::string> compiler = find_tool(tools, "cc");
    if (!compiler) return compiler.error();
    const std::uint32_t wanted = stamp_of_version(slurm_version);
    const Result<SlurmHeaders> found = ask(compiler.value(), tools, "");
    if (found && stamp_of_version(found.value().version) == wanted) return found;
    const Result<SlurmHeaders> elsewhere = ask_in(compiler.value(), tools, wanted);
    if (elsewhere) return elsewhere;
    if (!found) return found.error();
    return Error{Code::conflict, "Slurm's headers in " + found.value().directory + "/slurm are of " +
                                     found.value().version + ", this machine runs Slurm " + slurm_version +
                                     "; install " + headers_package(tools.family) + " of " + slurm_version +
                                     ", or remove those if they are left from another Slurm"};
}

std::uint32_t stamp_of_version(const std::string& version) {
    std::array<std::uint32_t, 3> numbers{};
    const char* at = version.data();
    const char* const end = at + version.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto [next, error] = std::from_chars(at, end, numbers[i]);
        if (error != std::errc() || numbers[i] > 0xff) return 0;
        at = next;
        if (i < 2 && (at == end || *at++ != '.')) return 0;
    }
    return numbers[0] << 16U | numbers[1] << 8U | numbers[2];
}

}  // namespace llmgw::service
