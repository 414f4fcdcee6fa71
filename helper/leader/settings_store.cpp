#include "leader/settings_store.hpp"

#include "core/limits.hpp"
#include "core/text.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "json/settings_json.hpp"
#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

const char* const none = "{\"enabled\": false}\n";
const char* const stays = "the last good settings stay in force: ";

std::string sentence(const std::string& path, const std::vector<SettingError>& errors) {
    std::vector<std::string> lines;
    for (const SettingError& error : errors) lines.push_back(json::text_of(error));
    return path + " is wrong, and " + stays + join(lines, "; ");
}

// Only for text that passed every rule, so there is a value.
Value value_of(const std::string& text) {
    Result<Value> value = json::parse(text);
    return value ? std::move(value).value() : Value(Value::Object{});
}

}  // namespace

Result<std::unique_ptr<SettingsStore>> SettingsStore::open(const std::string& directory) {
    Result<Revision> revision = Revision::open(directory + "/revision.settings", 1);
    if (!revision) return revision.error();
    std::unique_ptr<SettingsStore> store(new SettingsStore(directory, std::move(revision).value()));
    Result<std::string> good = read_file(store->good_file(), limits::settings_bytes);
    store->good_exists_ = good.ok() && json::read_settings_text(good.value()).ok();
    store->good_text_ = store->good_exists_ ? good.value() : none;
    const std::lock_guard lock(store->mutex_);
    // Always a new revision: what was served before may have had a problem that went away meanwhile.
    if (Result<bool> looked = store->look(true); !looked) return looked.error();
    return store;
}

Published SettingsStore::now() const {
    const std::lock_guard lock(mutex_);
    return published_;
}

std::string SettingsStore::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

std::vector<std::string> SettingsStore::lent() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    const Value* const lent = settings_.find("lent");
    if (lent == nullptr || lent->array() == nullptr) return names;
    for (const Value& name : *lent->array()) {
        if (name.text() != nullptr) names.push_back(*name.text());
    }
    return names;
}

Result<bool> SettingsStore::reload() {
    const std::lock_guard lock(mutex_);
    return look(false);
}

Result<bool> SettingsStore::look(bool first) {
    const Result<std::string> text = read_file(file(), limits::settings_bytes);
    std::string problem;
    bool fresh = false;
    if (text) {
        const json::ReadSettings read = json::read_settings_text(text.value());
        if (!read.ok()) problem = sentence(file(), read.errors);
        fresh = read.ok() && (!good_exists_ || text.value() != good_text_);
    } else if (text.error().code != Code::missing || good_exists_) {
        problem = text.error().message + "; " + stays + "put the file back";
    }
    problem = shortened(problem, limits::message_bytes);
    if (!first && !fresh && problem == problem_) return false;
    const std::string& in_force = fresh ? text.value() : good_text_;
    if (fresh) {
        // The copy first: after a crash at any point below it is what a start falls back to.
        const Result<void> kept = write_file_atomically(good_file(), in_force, 0644, Durability::durable);
        if (!kept) return kept.error();
    }
    if (Result<void> done = publish(value_of(in_force), std::move(problem)); !done) return done.error();
    if (fresh) good_text_ = text.value();
    good_exists_ = good_exists_ || fresh;
    return true;
}

Result<void> SettingsStore::publish(Value settings, std::string problem) {
    if (Result<void> raised = revision_.raise(); !raised) return raised;
    Value body;
    body.set("revision", revision_.value());
    body.set("settings", settings);
    if (!problem.empty()) body.set("problem", problem);
    settings_ = std::move(settings);
    problem_ = std::move(problem);
    published_ = {revision_.value(), std::make_shared<const std::string>(json::dump(body))};
    return {};
}

std::optional<PatchRefusal> SettingsStore::patch(const Patch& patch, std::optional<std::uint64_t> expected) {
    const std::lock_guard lock(mutex_);
    // What was edited by hand a moment ago counts, although its event may still be on the way.
    const Result<bool> looked = look(false);
    if (!looked) return PatchRefusal{Code::internal, looked.error().message, {}};
    if (!problem_.empty()) {
        return PatchRefusal{
            Code::conflict, "nothing is changed while the file needs correction: " + problem_, {}};
    }
    if (expected && *expected != revision_.value()) {
        return PatchRefusal{Code::conflict,
                            "the settings have changed meanwhile (revision " +
                                std::to_string(revision_.value()) + "): look at them and try again",
                            {}};
    }
    Value changed = applied(settings_, patch);
    if (changed == settings_) return std::nullopt;
    json::ReadSettings read = json::read_settings(changed);
    if (!read.ok()) {
        std::vector<std::string> lines;
        for (const SettingError& error : read.errors) lines.push_back(json::text_of(error));
        return PatchRefusal{Code::invalid, "the settings would be wrong: " + join(lines, "; "),
                            std::move(read.errors)};
    }
    const std::string text = json::dump(changed, json::Layout::indented);
    if (text.size() > limits::settings_bytes) {
        return PatchRefusal{
            Code::invalid,
            "the settings would be larger than " + std::to_string(limits::settings_bytes) + " bytes",
            {}};
    }
    const Result<void> kept = write_file_atomically(file(), text, 0644, Durability::durable);
    if (!kept) return PatchRefusal{Code::internal, kept.error().message, {}};
    const Result<bool> published = look(false);
    if (!published) return PatchRefusal{Code::internal, published.error().message, {}};
    return std::nullopt;
}

}  // namespace llmgw::leader
