// Which family and architecture a machine is, from what is found on it. Pure but for the gathering.
#pragma once

#include <string>
#include <string_view>

#include "core/releases.hpp"
#include "core/result.hpp"
#include "packages/dnf_commands.hpp"

namespace llmgw::packages {

struct PlatformFacts {
    std::string os_release;  // the text of /etc/os-release; empty: there is none
    std::string machine;     // of uname: "x86_64", "aarch64"
    bool apt = false;        // dpkg-query and apt-get are there
    bool rpm = false;        // rpm and some dnf are there

    bool operator==(const PlatformFacts&) const = default;
};

PlatformFacts gather_platform(const std::string& root = "/");

// ID and ID_LIKE decide, and the programs must be there. Error (invalid): names what was found.
Result<Platform> platform_of(const PlatformFacts& facts);

// A value of os-release(5), without its quotes; empty: not there.
std::string os_release_value(std::string_view os_release, std::string_view key);

// What dpkg ("amd64") and rpm ("x86_64") call an architecture.
std::string_view dpkg_name(Architecture architecture);
std::string_view rpm_name(Architecture architecture);

// This machine's dnf, also where it is called yum. Error (missing): none.
Result<dnf::Program> find_dnf();

}  // namespace llmgw::packages
