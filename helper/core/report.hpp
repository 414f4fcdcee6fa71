// What a machine says about itself to the leader, and what the leader tells of all machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmgw {

struct MachineReport {
    std::string name;
    bool ready = false;
    std::string reason;  // "pyxis 0.24.0, enroot 4.2.1" when ready, else the one reason why it isn't
    // Versions found, empty where there is none.
    std::string pyxis;
    std::string enroot;
    std::string slurm;
    std::string boot;    // boot id
    std::string helper;  // version of llmgw-slurm-helper

    bool operator==(const MachineReport&) const = default;
};

// A report with when it came, in the leader's clock (seconds since 1970).
struct ReceivedReport {
    MachineReport report;
    std::int64_t received = 0;

    bool operator==(const ReceivedReport&) const = default;
};

// The answer to GET /slurm/v1/machines. Ages are `now - received`: both are the leader's clock.
struct ReportList {
    std::uint64_t revision = 0;
    std::int64_t now = 0;
    std::vector<ReceivedReport> machines;

    bool operator==(const ReportList&) const = default;
};

}  // namespace llmgw
