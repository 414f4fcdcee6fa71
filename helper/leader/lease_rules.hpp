// What may become of a node's lease: pure. The leader never takes one back by itself.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "core/lease.hpp"

namespace llmgw::leader {

enum class LeaseState { none, draining, free, refused };

std::string name_of(LeaseState state);
std::optional<LeaseState> lease_state_of(std::string_view name);

// What has to survive the leader.
struct LeaseRecord {
    std::string lease;             // the last known one; empty: there never was one
    std::uint64_t generation = 0;  // its
    LeaseState state = LeaseState::none;
    bool release_due = false;  // given back, and llmgw has not been told yet
    std::string refusal;       // why it is refused
    std::optional<Reclaim> reclaim;

    bool operator==(const LeaseRecord&) const = default;
};

// llmgw keeps off the node, or is about to.
[[nodiscard]] bool is_held(const LeaseRecord& record);

struct LeaseRefusal {
    std::string message;
    std::uint64_t generation = 0;  // the last known one
};

// The record as it is to be, which may be the same.
using LeaseDecision = std::variant<LeaseRecord, LeaseRefusal>;

// `at_once`: nothing has to be done to drain a node here.
LeaseDecision asked(const LeaseRecord& now, const LeaseRequest& request, bool at_once);
// `releases`: there is something to be done when a node is given back.
LeaseDecision given_back(const LeaseRecord& now, const LeaseRequest& request, bool releases);

}  // namespace llmgw::leader
