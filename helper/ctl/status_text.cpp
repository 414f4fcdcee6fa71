#include "ctl/status_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "ctl/answer.hpp"

namespace llmgw::ctl {
namespace {

const Value::Array& machines_of(const Value& status) {
    static const Value::Array none;
    const Value* machines = status.find("machines");
    return machines == nullptr || machines->array() == nullptr ? none : *machines->array();
}

// In characters; names are ASCII, unless another machine lies.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xC0') != '\x80'; }));
}

std::string lines_of(const Value& users, const char* key) {
    std::string text;
    const Value* list = users.find(key);
    if (list == nullptr || list->array() == nullptr) return text;
    for (const Value& each : *list->array()) {
        if (each.text() != nullptr) text += fmt::format("  {}\n", *each.text());
    }
    return text;
}

std::int64_t number_at(const Value& value, const char* key) {
    const Value* found = value.find(key);
    return found == nullptr || found->integer() == nullptr ? 0 : *found->integer();
}

// Of a machine whose users are llmgw's.
std::string users_text(const Value& status) {
    const Value* users = status.find("users");
    if (users == nullptr || !flag_at(*users, "llmgw")) return {};
    std::string text;
    if (const std::string problem = text_at(*users, "accounts_problem"); !problem.empty())
        text += fmt::format("accounts: {}\n", problem);
    if (const std::string problem = text_at(*users, "problem"); !problem.empty())
        text += fmt::format("users: {}\n", problem);
    if (!flag_at(*users, "known")) return text + "users: being looked at\n";
    const std::int64_t refused = number_at(*users, "refused_count");
    text += fmt::format("users: {}{}\n", number_at(*users, "active"),
                        refused == 0 ? "" : fmt::format(", {} refused:", refused));
    return text + lines_of(*users, "refused") + lines_of(*users, "problems");
}

std::string table(const Value& status) {
    std::size_t width = std::string_view("MACHINE").size();
    for (const Value& machine : machines_of(status))
        width = std::max(width, columns(text_at(machine, "name")));
    std::string text = fmt::format("{:<{}}  {:<9}  {}\n", "MACHINE", width, "STATE", "REASON");
    for (const Value& machine : machines_of(status)) {
        text += fmt::format("{:<{}}  {:<9}  {}\n", text_at(machine, "name"), width,
                            flag_at(machine, "ready") ? "ready" : "not ready", text_at(machine, "reason"));
    }
    return text;
}

std::string clock_of(std::int64_t seconds) {
    const std::time_t then = seconds;
    const std::time_t now = ::time(nullptr);
    std::tm parts{};
    ::localtime_r(&then, &parts);
    constexpr std::int64_t half_a_day = 12 * 3600;
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), now - seconds < half_a_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M",
                  &parts);
    return text.data();
}

// Who has each node, since when, and what a change of that waits for.
std::string lending_table(const Value& status) {
    std::string text;
    std::size_t width = std::string_view("NODE").size();
    for (const Value& machine : machines_of(status))
        width = std::max(width, columns(text_at(machine, "name")));
    for (const Value& machine : machines_of(status)) {
        if (const Value* lending = machine.find("lending"))
            text += fmt::format("{:<{}}  {}\n", text_at(machine, "name"), width, lending_text(*lending));
    }
    return text.empty() ? text : fmt::format("\n{:<{}}  {}\n", "NODE", width, "WHOSE") + text;
}

}  // namespace

std::string lending_text(const Value& lending) {
    const std::string phase = text_at(lending, "phase");
    const std::string whose = phase == "gateway"    ? "llmgw's"
                              : phase == "slurm"    ? "Slurm's"
                              : phase == "asking"   ? "llmgw's, asked for"
                              : phase == "checking" ? "nobody's, being looked at before Slurm has it"
                              : phase == "emptying" ? "Slurm's, being emptied"
                                                    : "nobody's, being given back to llmgw";
    std::string text = fmt::format("{}, since {}", whose, clock_of(number_at(lending, "since")));
    if (!flag_at(lending, "fence")) text += ", fence off";
    const Value* waiting = lending.find("waiting");
    if (waiting == nullptr || waiting->array() == nullptr) return text;
    const char* before = ": ";
    for (const Value& each : *waiting->array()) {
        if (each.text() == nullptr) continue;
        text += before + *each.text();
        before = "; ";
    }
    return text;
}

std::string status_text(const Value& status) {
    std::string text;
    if (flag_at(status, "enabled")) {
        text += fmt::format("cluster {}, controller {}, containers {}\n", text_at(status, "cluster_name"),
                            text_at(status, "controller"), flag_at(status, "containers") ? "on" : "off");
    } else {
        text += "Slurm is switched off in llmgw's settings, or they did not come yet\n";
    }
    if (const Value* gate = status.find("gate")) {
        const bool forced = text_at(*gate, "mode") != "auto";
        text += fmt::format("gate {}{}: {}\n", flag_at(*gate, "open") ? "open" : "closed",
                            forced ? " by hand" : "", text_at(*gate, "message"));
    }
    const std::string leader_error =
        status.find("leader") == nullptr ? "" : text_at(*status.find("leader"), "error");
    if (!leader_error.empty()) text += fmt::format("leader: {}\n", leader_error);
    if (const std::string problem = text_at(status, "settings_problem"); !problem.empty()) {
        text += fmt::format("settings: {}\n", problem);
    }
    text += users_text(status);
    if (const std::string problem = text_at(status, "shared_problem"); !problem.empty()) {
        text += fmt::format("shared path: {}\n", problem);
    }
    text += fmt::format("this machine, {}: {}, {}\n", text_at(status, "machine"), text_at(status, "state"),
                        text_at(status, "reason"));
    if (const Value* notes = status.find("notes"); notes != nullptr && notes->array() != nullptr) {
        for (const Value& note : *notes->array()) {
            if (note.text() != nullptr) text += fmt::format("  note: {}\n", *note.text());
        }
    }
    if (const std::string error = text_at(status, "machines_error"); !error.empty()) {
        return text + fmt::format("other machines: {}\n", error);
    }
    if (const std::string problem = text_at(status, "lending_problem"); !problem.empty())
        text += fmt::format("lending: {}\n", problem);
    if (!machines_of(status).empty()) text += "\n" + table(status) + lending_table(status);
    return text;
}

bool everything_ready(const Value& status) {
    const Value::Array& machines = machines_of(status);
    return !machines.empty() && std::all_of(machines.begin(), machines.end(),
                                            [](const Value& machine) { return flag_at(machine, "ready"); });
}

}  // namespace llmgw::ctl
