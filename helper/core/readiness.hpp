// Whether container jobs may be submitted: a pure function of the settings, the machines' reports and what
// the admin forced. The helper on the controller writes the outcome to the gate file, and `llmgw-slurm
// status` shows it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/report.hpp"
#include "core/settings.hpp"

namespace llmgw {

struct WantedVersions {
    std::string pyxis;
    std::string enroot;

    bool operator==(const WantedVersions&) const = default;
};

// What the admin said with `llmgw-slurm gate`. open and closed hold until auto.
enum class GateOverride { automatic, open, closed };

// One line of `llmgw-slurm status`.
struct MachineStatus {
    std::string name;
    bool ready = false;
    std::string reason;

    bool operator==(const MachineStatus&) const = default;
};

struct Readiness {
    bool open = false;
    std::string message;                  // for users, one line
    std::vector<MachineStatus> machines;  // the controller first, then as in slurm_nodes

    bool operator==(const Readiness&) const = default;
};

// Local time of a moment for people, "09:14" (or with the date when it was another day).
using ClockText = std::function<std::string(std::int64_t)>;

Readiness assess(const ResolvedSettings& settings, const KnownMachines& reports, const WantedVersions& wanted,
                 GateOverride forced, const ClockText& clock);

}  // namespace llmgw
