// Which of apt's and dpkg's many lines says why.
#include <algorithm>
#include <array>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "packages/apt_output.hpp"

namespace llmgw::packages::apt {
namespace {

// In the order of what they explain: a package that can't be found also leaves others broken.
constexpr std::array signs{
    Sign{"Could not get lock ", Trouble::locked},
    Sign{"Unable to lock directory ", Trouble::locked},
    Sign{"Unable to acquire the dpkg frontend lock", Trouble::locked},
    Sign{"Unable to lock the administration directory", Trouble::locked},
    Sign{"frontend lock was locked by another process", Trouble::locked},
    Sign{"database is locked by another process", Trouble::locked},
    Sign{"database lock was locked by another process", Trouble::locked},
    Sign{"No space left on device", Trouble::space},
    Sign{"You don't have enough free space", Trouble::space},
    Sign{"not a Debian format archive", Trouble::damaged},
    Sign{"unexpected end of file or stream", Trouble::damaged},
    Sign{"lzma error", Trouble::damaged},
    Sign{"corrupted filesystem tarfile", Trouble::damaged},
    Sign{"Held packages were changed", Trouble::conflict},
    Sign{"Packages were downgraded", Trouble::conflict},
    Sign{"Packages need to be removed", Trouble::conflict},
    Sign{"Essential packages were removed", Trouble::conflict},
    Sign{"NO_PUBKEY", Trouble::other},
    Sign{"KEYEXPIRED", Trouble::other},
    Sign{"OpenPGP signature verification failed", Trouble::other},
    Sign{"signatures couldn't be verified", Trouble::other},
    Sign{"is not signed", Trouble::other},
    Sign{"Unable to locate package", Trouble::index},
    Sign{"has no installation candidate", Trouble::index},
    Sign{"' was not found", Trouble::index},
    Sign{"but it is not installable", Trouble::index},
    Sign{"but it is not going to be installed", Trouble::index},
    Sign{" is to be installed", Trouble::index},
    // apt 3.1's other solver.
    Sign{"none of the choices are installable", Trouble::index},
    Sign{"Unable to satisfy dependencies", Trouble::index},
    Sign{"404  Not Found", Trouble::index},
    Sign{"Hash Sum mismatch", Trouble::index},
    Sign{"File has unexpected size", Trouble::index},
    Sign{"File not found", Trouble::index},
    Sign{"Temporary failure resolving", Trouble::network},
    Sign{"Could not connect", Trouble::network},
    Sign{"Could not resolve", Trouble::network},
    Sign{"Connection timed out", Trouble::network},
    Sign{"Connection failed", Trouble::network},
    Sign{"Failed to fetch", Trouble::network},
    Sign{"Unable to fetch some archives", Trouble::network},
    Sign{"The package lists or status file could not be parsed", Trouble::other},
    Sign{"dpkg: error processing", Trouble::other},
};

bool shows(std::string_view line, const Sign& sign) {
    if (!contains(line, sign.part) || line.starts_with("N: ")) return false;
    // Not what apt waits for by itself, nor what a package's script could not lock: then much was done
    // already.
    return sign.trouble != Trouble::locked || line.starts_with("E: ") || line.starts_with("dpkg: error: ");
}

std::string_view without_mark(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("E: ") || line.starts_with("W: ")) line.remove_prefix(3);
    return line;
}

// The line that a sign was found in; dpkg says the reason on the line below.
std::string reason_at(const std::vector<std::string_view>& lines, std::size_t at) {
    std::string reason(without_mark(lines[at]));
    if (contains(lines[at], "dpkg: error processing") && at + 1 < lines.size()) {
        reason += " " + std::string(trimmed(lines[at + 1]));
    }
    return printable(reason, limits::message_bytes / 2);
}

std::string last_word(const std::vector<std::string_view>& lines) {
    std::string_view last;
    for (const std::string_view line : lines) {
        if (line.starts_with("E: ")) return printable(without_mark(line), limits::message_bytes / 2);
        if (!trimmed(line).empty()) last = line;
    }
    return printable(trimmed(last), limits::message_bytes / 2);
}

}  // namespace

Failure failure_of(const std::string& output) {
    const std::vector<std::string_view> lines = split(output, '\n');
    for (const Sign& sign : signs) {
        const auto found = std::find_if(lines.begin(), lines.end(),
                                        [&](std::string_view line) { return shows(line, sign); });
        if (found == lines.end()) continue;
        return {sign.trouble, reason_at(lines, static_cast<std::size_t>(found - lines.begin()))};
    }
    return {Trouble::other, last_word(lines)};
}

bool says_locked(const std::string& output) {
    return failure_of(output).trouble == Trouble::locked;
}

}  // namespace llmgw::packages::apt
