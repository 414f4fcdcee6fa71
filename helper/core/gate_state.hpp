// RUN/gate on the controller: whether container jobs may be submitted, decided by the helper there and read
// by the gate in slurmctld.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw {

struct GateState {
    bool open = false;
    std::uint64_t revision = 0;  // raised by the helper with every change
    bool oci = false;            // Slurm has an oci.conf, so that --container is not our business
    std::string message;         // for users, finished; why the gate is closed, or that it is open

    bool operator==(const GateState&) const = default;
};

Result<GateState> parse_gate_state(std::string_view text);
std::string format_gate_state(const GateState& state);

}  // namespace llmgw
