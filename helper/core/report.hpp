// What a machine says about itself to the leader, and what the leader says about machines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/node_hardware.hpp"
#include "core/result.hpp"

namespace llmgw {

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
