// enroot.conf and its drop-ins, read as enroot reads them (3.4 to 4.1 enroot.in, config::load): "KEY VALUE"
// or "KEY=VALUE" lines, of which unknown keys and a last line without an end are dropped without a word.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

struct EnrootSetting {
    std::string key;
    std::string value;  // for a shell to expand; may be empty
    std::size_t line = 0;

    bool operator==(const EnrootSetting&) const = default;
};

struct EnrootConfig {
    std::vector<EnrootSetting> settings;
    // One line each: "line 3 sets ENROOT_DATAPATH, which is no setting of enroot's that is known here".
    std::vector<std::string> doubts;

    bool operator==(const EnrootConfig&) const = default;
};

EnrootConfig parse_enroot_config(std::string_view text);

// The directory that every user's value is below, or that it is: "/var/lib/enroot/data" of
// "/var/lib/enroot/data/user-$(id -u)", "/tmp" of "${TMPDIR:-/tmp}". Nothing: only a shell can tell.
std::optional<std::string> fixed_part(std::string_view value);

}  // namespace llmgw
