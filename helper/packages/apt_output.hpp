// What dpkg and apt say, understood. Pure; their texts are those of the C locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packages/failure.hpp"
#include "packages/manager.hpp"

namespace llmgw::packages::apt {

// A line of apt_commands.hpp's states_query.
struct State {
    std::string name;  // with ":ARCHITECTURE" where it is a foreign one
    std::string version;
    std::string want;  // install, hold, deinstall, purge, unknown
    std::string
        status;  // installed, half-configured, unpacked, half-installed, triggers-awaited, config-files, ...
    bool damaged = false;  // reinst-required: dpkg has lost half of it

    [[nodiscard]] bool held() const { return want == "hold"; }
    // Anything of it on the machine, be it only configuration.
    [[nodiscard]] bool there() const { return status != "not-installed"; }
    bool operator==(const State&) const = default;
};

// `native`: the machine's architecture, "amd64".
std::vector<State> parse_states(const std::string& output, std::string_view native);
// `interrupted`: dpkg has a journal that it did not come to apply.
Installed installed_of(const std::vector<State>& states, bool interrupted);
std::vector<std::string> held_of(const std::vector<State>& states);
const State* find_state(const std::vector<State>& states, const std::string& name);

// Of `apt-get -s`.
Preview parse_simulation(const std::string& output);

struct PackageFile {
    std::string name;
    std::string version;
    std::string architecture;

    bool operator==(const PackageFile&) const = default;
};
// Of `dpkg-deb --field`.
std::optional<PackageFile> parse_fields(const std::string& output);

// Of `apt-cache show`, in its order, each version once.
std::vector<Offer> parse_offers(const std::string& output);

Failure failure_of(const std::string& output);
bool says_locked(const std::string& output);

// A line of apt's or dpkg's that people who watch want to see: "Setting up enroot (4.2.1-1)". Empty: nothing
// of interest.
std::string progress_of(std::string_view line);

}  // namespace llmgw::packages::apt
