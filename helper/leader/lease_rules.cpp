#include "leader/lease_rules.hpp"

#include <array>
#include <utility>

#include "core/shown.hpp"

namespace llmgw::leader {
namespace {

constexpr std::array<std::pair<LeaseState, std::string_view>, 4> names{{{LeaseState::none, "none"},
                                                                        {LeaseState::draining, "draining"},
                                                                        {LeaseState::free, "free"},
                                                                        {LeaseState::refused, "refused"}}};

std::optional<LeaseRefusal> out_of_turn(const LeaseRecord& now, const LeaseRequest& request) {
    const std::string asked_for = "generation " + std::to_string(request.generation);
    if (request.generation < now.generation) {
        return LeaseRefusal{asked_for + " is over: generation " + std::to_string(now.generation) +
                                " of this node's lease is known",
                            now.generation};
    }
    if (request.generation == now.generation && request.lease != now.lease) {
        return LeaseRefusal{asked_for + " is the lease " + shown(now.lease) + " and not " +
                                shown(request.lease) + ": ask with a higher one",
                            now.generation};
    }
    return std::nullopt;
}

}  // namespace

std::string name_of(LeaseState state) {
    for (const auto& [known, name] : names) {
        if (known == state) return std::string(name);
    }
    return {};
}

std::optional<LeaseState> lease_state_of(std::string_view name) {
    for (const auto& [state, known] : names) {
        if (known == name) return state;
    }
    return std::nullopt;
}

bool is_held(const LeaseRecord& record) {
    return record.state == LeaseState::draining || record.state == LeaseState::free;
}

LeaseDecision asked(const LeaseRecord& now, const LeaseRequest& request, bool at_once) {
    if (auto refusal = out_of_turn(now, request)) return *refusal;
    const bool held = is_held(now);
    if (request.generation == now.generation) {
        if (held) return now;
        if (now.state == LeaseState::none) {
            return LeaseRefusal{
                "generation " + std::to_string(now.generation) + " was given back: ask with a higher one",
                now.generation};
        }
    }
    LeaseRecord next = now;
    next.lease = request.lease;
    next.generation = request.generation;
    next.refusal.clear();
    // Held: what was drained for the one before it stays drained, without a gap.
    if (held) return next;
    next.reclaim.reset();
    // A release may be on its way, so that being free has to wait for its end.
    next.state = at_once && !now.release_due ? LeaseState::free : LeaseState::draining;
    next.release_due = false;
    return next;
}

LeaseDecision given_back(const LeaseRecord& now, const LeaseRequest& request, bool releases) {
    if (auto refusal = out_of_turn(now, request)) return *refusal;
    LeaseRecord next = now;
    next.lease = request.lease;
    next.generation = request.generation;
    if (now.state == LeaseState::none) return next;
    // After a refusal, too: a part of the node may have been drained before it.
    next.state = LeaseState::none;
    next.release_due = releases;
    next.refusal.clear();
    next.reclaim.reset();
    return next;
}

}  // namespace llmgw::leader
