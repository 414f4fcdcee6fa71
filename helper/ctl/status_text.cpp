#include "ctl/status_text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

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
    if (!machines_of(status).empty()) text += "\n" + table(status);
    return text;
}

bool everything_ready(const Value& status) {
    const Value::Array& machines = machines_of(status);
    return !machines.empty() && std::all_of(machines.begin(), machines.end(),
                                            [](const Value& machine) { return flag_at(machine, "ready"); });
}

}  // namespace llmgw::ctl
