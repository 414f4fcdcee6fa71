#include "core/report.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/uid_ranges.hpp"

namespace llmgw {
namespace {

Result<void> check_line(const std::string& key, const std::string& text, std::size_t most) {
    if (text.size() > most) {
        return Error{Code::too_large, key + ": more than " + std::to_string(most) + " bytes"};
    }
    if (has_control_characters(text)) return Error{Code::invalid, key + ": control characters in it"};
    return {};
}

}  // namespace

Result<void> check_lending(const LendingReport& lending) {
    if (std::find(lending_phases.begin(), lending_phases.end(), lending.phase) == lending_phases.end()) {
        return Error{Code::invalid, "lending.phase: " + shown(lending.phase) + " is none"};
    }
    if (lending.generation > limits::lease_generation || lending.since < 0)
        return Error{Code::invalid, "lending: a number is out of range"};
    if (lending.waiting.size() > limits::lending_waiting) {
        return Error{Code::too_large,
                     "lending.waiting: more than " + std::to_string(limits::lending_waiting)};
    }
    for (const std::string& what : lending.waiting) {
        Result<void> good = check_line("lending.waiting", what, limits::lending_waiting_bytes);
        if (!good) return good;
    }
    return {};
}

Result<void> check_report(const MachineReport& report) {
    if (!is_name(report.name)) {
        return Error{Code::invalid,
                     "name: " + shown(report.name) + " is no machine's name; use " + std::string(name_rule)};
    }
    if (Result<void> good = check_line("reason", report.reason, limits::message_bytes); !good) return good;
    if (report.reason.empty()) return Error{Code::invalid, "reason: missing; say why, or what is there"};
    if (Result<void> good = check_line("boot", report.boot, limits::report_word_bytes); !good) return good;
    if (Result<void> good = check_line("helper", report.helper, limits::report_word_bytes); !good)
        return good;
    if (Result<void> good = check_line("users", report.users, limits::report_users_bytes); !good) return good;
    if (const Result<UidRanges> users = UidRanges::parse(report.users); !users)
        return users.error().within("users");
    if (report.versions.size() > limits::report_versions) {
        return Error{Code::too_large, "versions: more than " + std::to_string(limits::report_versions)};
    }
    for (const auto& [what, version] : report.versions) {
        if (!is_name(what)) return Error{Code::invalid, "versions: " + shown(what) + " is no program's name"};
        Result<void> good = check_line("versions." + what, version, limits::report_word_bytes);
        if (!good) return good;
    }
    if (report.lending) {
        if (Result<void> good = check_lending(*report.lending); !good) return good;
    }
    return report.hardware ? check_hardware(*report.hardware) : Result<void>();
}

bool is_silent(const KnownMachine& machine, std::int64_t now) {
    return now - machine.received > limits::report_silent_after.count();
}

}  // namespace llmgw
