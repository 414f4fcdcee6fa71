// The settings: DIR/settings.json, which the admin may edit by hand, too. What is in force is always
// something that passed every rule: where the file doesn't, the last that did (DIR/settings.good.json) stays,
// and readers are told.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/settings.hpp"
#include "core/value.hpp"
#include "leader/patch.hpp"
#include "leader/revision.hpp"

namespace llmgw::leader {

struct Published {
    std::uint64_t revision = 0;
    std::shared_ptr<const std::string> body;  // what GET answers: revision, settings, and perhaps a problem
};

struct PatchRefusal {
    Code code =
        Code::invalid;  // invalid: the result breaks rules; conflict: first something else has to be done
    std::string message;
    std::vector<SettingError> errors;
};

class SettingsStore {
  public:
    // Wrong settings are no error here: see above. Where there are none at all, {"enabled": false} is in
    // force.
    static Result<std::unique_ptr<SettingsStore>> open(const std::string& directory);

    [[nodiscard]] Published now() const;
    [[nodiscard]] std::string problem() const;  // empty: the file is in force
    [[nodiscard]] std::vector<std::string> lent() const;

    // Reads the file again; true: there is news. An error is one of the disk, and a later call may do better.
    Result<bool> reload();

    // `expected` is the revision that the caller has seen, if it says. Whatever comes back, there may be
    // news: the file is read first.
    std::optional<PatchRefusal> patch(const Patch& patch, std::optional<std::uint64_t> expected);

  private:
    SettingsStore(std::string directory, Revision revision)
        : directory_(std::move(directory)), revision_(std::move(revision)) {}

    [[nodiscard]] std::string file() const { return directory_ + "/settings.json"; }
    [[nodiscard]] std::string good_file() const { return directory_ + "/settings.good.json"; }
    Result<bool> look(bool first);
    Result<void> publish(Value settings, std::string problem);

    const std::string directory_;
    mutable std::mutex mutex_;
    Revision revision_;
    std::string good_text_;  // of the settings in force, as they stand in settings.good.json
    bool good_exists_ = false;
    Value settings_{Value::Object{}};
    std::string problem_;
    Published published_;
};

}  // namespace llmgw::leader
