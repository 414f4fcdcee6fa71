#include "core/sshd_config.hpp"

#include <algorithm>
#include <vector>

#include "core/text.hpp"

namespace llmgw {
namespace {

// OpenSSH's default (servconf.c, fill_default_server_options).
constexpr const char* default_files = ".ssh/authorized_keys .ssh/authorized_keys2";

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

// The value of a line of that keyword, which is in lower case: "keyword value", "keyword=value".
std::string_view value_of(std::string_view line, std::string_view keyword) {
    line = trimmed(line);
    const std::size_t end = line.find_first_of(" \t=");
    if (end == std::string_view::npos || in_lower_case(line.substr(0, end)) != keyword) return {};
    line = trimmed(line.substr(end));
    if (line.starts_with('=')) line = trimmed(line.substr(1));
    return line;
}

std::string_view files_in(std::string_view main_file) {
    for (const std::string_view line : split(main_file, '\n')) {
        // What comes behind it is not for everybody.
        if (!value_of(line, "match").empty()) break;
        const std::string_view files = value_of(line, "authorizedkeysfile");
        if (!files.empty()) return files;
    }
    return default_files;
}

}  // namespace

std::string sshd_drop_in_text(std::string_view main_file, const std::string& keys) {
    const std::string_view files = files_in(main_file);
    const std::string others = files == "none" ? "" : std::string(files) + " ";
    return "# llmgw-slurm: the keys of llmgw's accounts are read, besides those that were read before.\n"
           "AuthorizedKeysFile " +
           others + keys + "/%u\n";
}

bool sshd_reads_keys(std::string_view effective, const std::string& keys) {
    for (const std::string_view line : split(effective, '\n')) {
        const std::string_view files = value_of(line, "authorizedkeysfile");
        const std::vector<std::string_view> each = split(files, ' ');
        if (std::find(each.begin(), each.end(), keys + "/%u") != each.end()) return true;
    }
    return false;
}

}  // namespace llmgw
