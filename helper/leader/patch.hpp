// PATCH /slurm/v1/settings: what is asked for, and settings with it done. Both are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lease.hpp"
#include "core/result.hpp"
#include "core/value.hpp"

namespace llmgw::leader {

struct Patch {
    std::vector<std::string> lend;
    std::vector<std::string> unlend;
    std::optional<bool> containers;
    std::optional<Reclaim> reclaim{};  // for the nodes in unlend; not a setting

    bool operator==(const Patch&) const = default;
};

// Strict: unknown keys, wrong types, and a machine both added and removed are errors.
Result<Patch> read_patch(std::string_view text);

// Everything else stays as the admin wrote it, in its order. Lending what is lent, or taking back what isn't,
// does nothing. Whether the result holds is for the settings' rules to say.
Value applied(Value settings, const Patch& patch);

}  // namespace llmgw::leader
