// Settings in JSON: the document that an admin writes, and what it was resolved to.
#pragma once

#include <string_view>
#include <vector>

#include "core/settings.hpp"
#include "core/value.hpp"

namespace llmgw::json {

struct ReadSettings {
    Settings settings;                 // to be used only without errors
    std::vector<SettingError> errors;  // all of them: of the document, of its keys and types, of the rules

    [[nodiscard]] bool ok() const noexcept { return errors.empty(); }
};

// The document is the object that llmgw has under `slurm`. Not enabled: what can't be read (syntax, a key
// twice or unknown, a wrong type) is still an error, what it says is not checked.
[[nodiscard]] ReadSettings read_settings_text(std::string_view text);

// The same from a value, for who has one already: the object out of an answer of the leader.
[[nodiscard]] ReadSettings read_settings(const Value& document);

// `KEY: message`, `LINE:COLUMN: message`, or the message alone: one line for a log or a terminal.
[[nodiscard]] std::string text_of(const SettingError& error);

// As an admin would write them, every key there. read_settings_text() reads it back as equal.
[[nodiscard]] Value to_value(const Settings& settings);

// For `check --json` and status; the keys are in docs/settings.md.
[[nodiscard]] Value to_value(const ResolvedSettings& settings);

// {"errors": [{"key", "message"}]}, with "line" and "column" where an error has a place.
[[nodiscard]] Value to_value(const std::vector<SettingError>& errors);

}  // namespace llmgw::json
