// Releases in JSON: conf/releases.json, and what an admin puts in its place. The format is in
// docs/releases.md.
#pragma once

#include <string_view>
#include <vector>

#include "core/releases.hpp"
#include "core/settings.hpp"

namespace llmgw::json {

struct ReadReleases {
    Releases releases;                 // to be used only without errors
    std::vector<SettingError> errors;  // all of them: of the document, of its keys and types, of the rules

    [[nodiscard]] bool ok() const noexcept { return errors.empty(); }
};

[[nodiscard]] ReadReleases read_releases_text(std::string_view text);

}  // namespace llmgw::json
