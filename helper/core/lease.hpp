// A node's lease as leader and helper speak of it (docs/contract.openapi.yaml): while a node holds one, llmgw
// has no replica there and starts none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw {

// What an admin wants done with the jobs that are still there at the deadline.
struct Reclaim {
    std::int64_t deadline = 0;  // unix time
    std::string then;           // "requeue" or "cancel"

    bool operator==(const Reclaim&) const = default;
};

struct LeaseRequest {
    std::string lease;
    std::uint64_t generation = 0;

    bool operator==(const LeaseRequest&) const = default;
};

struct LeaseAnswer {
    std::uint64_t revision = 0;
    std::string state;             // "none", "draining", "free" or "refused"
    std::string lease;             // as held, or of the last one; empty: there never was one
    std::uint64_t generation = 0;  // the last known one; 0: there never was one
    std::uint32_t replicas = 0;    // that are left, as far as it is known; 0 when none or free
    std::string reason;            // for people; empty: nothing to say
    std::optional<Reclaim> reclaim;

    bool operator==(const LeaseAnswer&) const = default;
    // llmgw starts no replica there until it is given back.
    [[nodiscard]] bool held() const { return state == "draining" || state == "free"; }
};

// A letter or digit, then up to 63 of letters, digits, `_ . -`.
[[nodiscard]] bool is_lease_id(std::string_view text) noexcept;

// Errors (invalid) of what somebody else sent.
Result<void> check_lease_request(const LeaseRequest& request);
Result<void> check_reclaim(const Reclaim& reclaim);
// An unknown state, or replicas on a node that is free, among them: it must never be taken for free.
Result<void> check_lease_answer(const LeaseAnswer& answer);

}  // namespace llmgw
