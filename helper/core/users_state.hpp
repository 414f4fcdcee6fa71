// RUN/users on the controller: whose jobs have to wait until every machine has their user, decided by the
// helper there and read by the gate in slurmctld.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/accounts.hpp"
#include "core/readiness.hpp"
#include "core/report.hpp"
#include "core/result.hpp"
#include "core/settings.hpp"
#include "core/uid_ranges.hpp"

namespace llmgw {

struct UsersState {
    bool open = false;                   // an administrator opened the gate by hand: nobody waits
    UidRanges ours;                      // llmgw's accounts; nobody else is looked at
    UidRanges everywhere;                // those of them that are active and on every machine
    std::map<Uid, std::string> waiting;  // some of the others, and why

    bool operator==(const UsersState&) const = default;
};

// `refused` are numbers that the controller itself knows as somebody else's: their jobs are none of ours.
[[nodiscard]] UsersState assess_users(const ResolvedSettings& settings, const KnownMachines& reports,
                                      const std::vector<Account>& accounts, const std::vector<Uid>& refused,
                                      GateOverride forced);

// One line for the user whose job is refused; nothing: it isn't.
[[nodiscard]] std::optional<std::string> refusal_of(const UsersState& state, Uid uid);

Result<UsersState> parse_users_state(std::string_view text);
std::string format_users_state(const UsersState& state);

}  // namespace llmgw
