// What a machine says about itself to the leader, and what the leader says about machines.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_hardware.hpp"
#include "core/result.hpp"

namespace llmgw {

// How far lending is on this node (docs/architecture.md).
struct LendingReport {
    std::string phase;  // one of lending_phases
    std::uint64_t generation = 0;
    std::int64_t since = 0;            // unix time, by this machine's clock
    std::vector<std::string> waiting;  // what it waits for, each a line for people
    bool fence = false;                // jobs are kept from starting here

    bool operator==(const LendingReport&) const = default;
};

inline constexpr std::array<std::string_view, 6> lending_phases{"gateway", "asking",   "checking",
                                                                "slurm",   "emptying", "handing-back"};

// Errors: invalid, too_large.
Result<void> check_lending(const LendingReport& lending);

struct MachineReport {
    std::string name;
    bool ready = false;
    std::string reason;  // "pyxis 0.24.0, enroot 4.2.1" when ready, else the one reason why it isn't
    std::map<std::string, std::string> versions;  // pyxis, enroot, slurm; a key is there when that is there
    std::string boot;                             // boot id at the time of the report
    std::string helper;                           // version of the helper
    // Numbers of llmgw's accounts that are on this machine as they should be (core/uid_ranges.hpp); empty:
    // none, or the site has its own users.
    std::string users;
    std::optional<NodeHardware> hardware{};  // where slurmd is installed
    std::optional<LendingReport> lending{};  // on nodes

    bool operator==(const MachineReport&) const = default;
};

// A report that anyone may show: its name is one, all texts are one line and within their limits, and there
// is a reason. Errors: invalid, too_large.
Result<void> check_report(const MachineReport& report);

struct KnownMachine {
    MachineReport report;
    std::int64_t received = 0;  // unix time, by the leader's clock

    bool operator==(const KnownMachine&) const = default;
};

struct KnownMachines {
    std::uint64_t revision = 0;
    std::int64_t now = 0;  // unix time when this was said, by the leader's clock
    std::vector<KnownMachine> machines;

    bool operator==(const KnownMachines&) const = default;
};

// No report for limits::report_silent_after, as of `now`. Both times are the leader's: machines' clocks don't
// count.
bool is_silent(const KnownMachine& machine, std::int64_t now);

}  // namespace llmgw
