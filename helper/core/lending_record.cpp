#include "core/lending_record.hpp"

#include <charconv>
#include <utility>

#include "core/state_text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view header = "llmgw-slurm-lending 1";

constexpr std::pair<LendingPhase, const char*> phases[] = {
    {LendingPhase::gateway, "gateway"},   {LendingPhase::asking, "asking"},
    {LendingPhase::checking, "checking"}, {LendingPhase::slurm, "slurm"},
    {LendingPhase::emptying, "emptying"}, {LendingPhase::handing_back, "handing-back"}};

const char* yes_or_no(bool value) {
    return value ? "yes" : "no";
}

Error wrong(std::string_view key) {
    return {Code::invalid, "has an unknown \"" + std::string(key) + "\""};
}

template <class Number>
Result<void> take(const StateFields& fields, std::string_view key, Number& into) {
    const Result<std::string> text = state_field(fields, key);
    if (!text) return text.error();
    const char* const end = text.value().data() + text.value().size();
    const auto [stopped, problem] = std::from_chars(text.value().data(), end, into);
    return problem == std::errc() && stopped == end ? Result<void>() : wrong(key);
}

Result<void> take(const StateFields& fields, std::string_view key, bool& into) {
    const Result<std::string> text = state_field(fields, key);
    if (!text) return text.error();
    if (text.value() != "yes" && text.value() != "no") return wrong(key);
    into = text.value() == "yes";
    return {};
}

Result<void> take_reclaim(const StateFields& fields, LendingRecord& record) {
    const Result<std::string> then = state_field(fields, "reclaim.then");
    if (!then) return {};
    Reclaim reclaim{0, then.value()};
    if (reclaim.then != "requeue" && reclaim.then != "cancel") return wrong("reclaim.then");
    if (Result<void> taken = take(fields, "reclaim.deadline", reclaim.deadline); !taken) return taken;
    record.reclaim = std::move(reclaim);
    return {};
}

}  // namespace

const char* text_of(LendingPhase phase) {
    for (const auto& [each, text] : phases) {
        if (each == phase) return text;
    }
    return "unknown";
}

std::optional<LendingPhase> lending_phase(std::string_view text) {
    for (const auto& [phase, name] : phases) {
        if (text == name) return phase;
    }
    return std::nullopt;
}

bool LendingRecord::admits_jobs() const {
    return !fence || phase == LendingPhase::slurm || (phase == LendingPhase::emptying && !closing);
}

Result<LendingRecord> parse_lending_record(std::string_view text) {
    const Result<StateFields> fields = parse_state_text(text, header);
    if (!fields) return fields.error();
    LendingRecord record;
    const Result<std::string> phase = state_field(fields.value(), "phase");
    if (!phase) return phase.error();
    const std::optional<LendingPhase> known = lending_phase(phase.value());
    if (!known) return wrong("phase");
    record.phase = *known;
    if (const Result<std::string> lease = state_field(fields.value(), "lease"); lease && lease.value() != "-")
        record.lease = lease.value();
    for (const Result<void>& taken :
         {take(fields.value(), "generation", record.generation), take(fields.value(), "held", record.held),
          take(fields.value(), "closing", record.closing), take(fields.value(), "fence", record.fence),
          take(fields.value(), "since", record.since), take_reclaim(fields.value(), record)}) {
        if (!taken) return taken.error();
    }
    return record;
}

std::string format_lending_record(const LendingRecord& record) {
    StateFields fields{{"phase", text_of(record.phase)},
                       {"generation", std::to_string(record.generation)},
                       {"lease", record.lease},
                       {"held", yes_or_no(record.held)},
                       {"closing", yes_or_no(record.closing)},
                       {"fence", yes_or_no(record.fence)},
                       {"since", std::to_string(record.since)}};
    if (record.reclaim) {
        fields.emplace_back("reclaim.deadline", std::to_string(record.reclaim->deadline));
        fields.emplace_back("reclaim.then", record.reclaim->then);
    }
    return format_state_text(header, fields);
}

}  // namespace llmgw
