// The package sources that a machine is configured with: apt's lists, in both formats, and yum's repository
// files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/releases.hpp"

namespace llmgw::packages {

struct Source {
    std::string uri;    // as written, with its variables
    std::string suite;  // of apt: "/", "bookworm"; of yum the repository's id
    std::string file;   // where it is written

    bool operator==(const Source&) const = default;
};

// Those that are in force: not commented out, enabled, for binary packages. `file` stays empty.
std::vector<Source> parse_apt_list(std::string_view text);     // sources.list(5), one line each
std::vector<Source> parse_apt_sources(std::string_view text);  // sources.list(5), deb822
std::vector<Source> parse_yum_repository(std::string_view text);

// All of a family's files below an installation root; one that can't be read has none.
std::vector<Source> read_sources(Family family, const std::string& root);

// Variables replaced ($(ARCH), $basearch), no slash at the end, scheme and host in small letters: what two
// ways to write one repository have in common.
std::string plain_uri(std::string_view uri, Architecture architecture);

}  // namespace llmgw::packages
