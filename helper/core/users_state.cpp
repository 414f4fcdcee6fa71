#include "core/users_state.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/limits.hpp"
#include "core/state_text.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view header = "llmgw-slurm-users 1";
// Of those who wait, so many are told what for; and so many machines are named.
constexpr std::size_t told_users = 200;
constexpr std::size_t named_machines = 3;
constexpr std::size_t waiting_bytes = 300;
// What is left of the file for each list of numbers.
constexpr std::size_t list_bytes = (limits::users_file_bytes - told_users * (waiting_bytes + 16)) / 2 - 1024;

// Machines with the same users say so with the same text.
using ByUsers = std::map<std::string, std::vector<std::string>>;

ByUsers machines_by_users(const ResolvedSettings& settings, const KnownMachines& reports) {
    std::map<std::string, std::string> said;
    for (const KnownMachine& machine : reports.machines) said[machine.report.name] = machine.report.users;
    std::set<std::string> machines(settings.slurm_nodes.begin(), settings.slurm_nodes.end());
    machines.insert(settings.controller);
    ByUsers result;
    for (const std::string& machine : machines) result[said[machine]].push_back(machine);
    return result;
}

std::string reason_for(const std::vector<std::string>& missing) {
    const std::size_t named = std::min(missing.size(), named_machines);
    std::string text = join({missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(named)}, ", ");
    if (missing.size() > named) text += " and " + std::to_string(missing.size() - named) + " more";
    return "not on " + text + " yet";
}

Result<std::map<Uid, std::string>> waiting_from(std::string_view text) {
    std::map<Uid, std::string> waiting;
    if (text == "-") return waiting;
    for (const std::string_view entry : split(text, ';')) {
        Uid uid = 0;
        const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), uid);
        const auto behind = static_cast<std::size_t>(end - entry.data());
        if (error != std::errc{} || behind >= entry.size() || waiting.size() >= told_users) {
            return Error{Code::invalid, "has a \"waiting\" that is none"};
        }
        waiting.emplace(uid, shortened(entry.substr(behind + 1), waiting_bytes));
    }
    return waiting;
}

Result<UidRanges> ranges_from(const StateFields& fields, std::string_view key) {
    const Result<std::string> text = state_field(fields, key);
    if (!text) return text.error();
    if (text.value() == "-") return UidRanges();
    Result<UidRanges> ranges = UidRanges::parse(text.value());
    return ranges ? std::move(ranges) : ranges.error().within("has a wrong \"" + std::string(key) + "\"");
}

}  // namespace

UsersState assess_users(const ResolvedSettings& settings, const KnownMachines& reports,
                        const std::vector<Account>& accounts, const std::vector<Uid>& refused,
                        GateOverride forced) {
    UsersState state;
    state.open = forced == GateOverride::open;
    std::vector<std::pair<UidRanges, std::vector<std::string>>> machines;
    for (auto& [text, names] : machines_by_users(settings, reports)) {
        Result<UidRanges> users = UidRanges::parse(text);
        machines.emplace_back(users ? std::move(users).value() : UidRanges(), std::move(names));
    }
    const std::set<Uid> others(refused.begin(), refused.end());
    std::vector<Uid> ours;
    std::vector<Uid> everywhere;
    for (const Account& account : accounts) {
        if (others.contains(account.uid)) continue;
        ours.push_back(account.uid);
        std::vector<std::string> missing;
        for (const auto& [users, names] : machines) {
            if (!users.contains(account.uid)) missing.insert(missing.end(), names.begin(), names.end());
        }
        if (account.active && missing.empty()) {
            everywhere.push_back(account.uid);
        } else if (state.waiting.size() < told_users) {
            std::sort(missing.begin(), missing.end());
            state.waiting[account.uid] =
                account.active ? shortened(reason_for(missing), waiting_bytes) : "not active in llmgw";
        }
    }
    state.ours = UidRanges(std::move(ours));
    state.everywhere = UidRanges(std::move(everywhere));
    return state;
}

std::optional<std::string> refusal_of(const UsersState& state, Uid uid) {
    if (state.open || !state.ours.contains(uid) || state.everywhere.contains(uid)) return std::nullopt;
    const auto told = state.waiting.find(uid);
    return "llmgw: no job of yours can start yet: your account is " +
           (told == state.waiting.end() ? "not on every machine of this cluster yet" : told->second) +
           ". \"llmgw-slurm status\" shows what each machine waits for.";
}

Result<UsersState> parse_users_state(std::string_view text) {
    const Result<StateFields> fields = parse_state_text(text, header);
    if (!fields) return fields.error();
    const Result<std::string> said = state_field(fields.value(), "state");
    const Result<std::string> waiting = state_field(fields.value(), "waiting");
    Result<UidRanges> ours = ranges_from(fields.value(), "ours");
    Result<UidRanges> everywhere = ranges_from(fields.value(), "everywhere");
    if (!said) return said.error();
    if (!waiting) return waiting.error();
    if (!ours) return ours.error();
    if (!everywhere) return everywhere.error();
    if (said.value() != "open" && said.value() != "checked")
        return Error{Code::invalid, "has an unknown state"};
    Result<std::map<Uid, std::string>> told = waiting_from(waiting.value());
    if (!told) return told.error();
    return UsersState{said.value() == "open", std::move(ours).value(), std::move(everywhere).value(),
                      std::move(told).value()};
}

std::string format_users_state(const UsersState& state) {
    std::string waiting;
    for (const auto& [uid, why] : state.waiting) {
        waiting += (waiting.empty() ? "" : ";") + std::to_string(uid) + " " + why;
    }
    return format_state_text(header, {{"state", state.open ? "open" : "checked"},
                                      {"ours", state.ours.text(list_bytes)},
                                      {"everywhere", state.everywhere.text(list_bytes)},
                                      {"waiting", waiting}});
}

}  // namespace llmgw
