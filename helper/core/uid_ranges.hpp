// Sets of user numbers as text: "200000-200499,200501". Small where numbers are given in turn.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw {

using Uid = std::uint32_t;

// What llmgw gives its accounts. The first is llmgw's promise; above the last one systemd has its containers'
// users (uids-gids.md: 524288 to 1879048191).
inline constexpr Uid first_account_uid = 200000;
inline constexpr Uid last_account_uid = 524287;

class UidRanges {
  public:
    struct Range {
        Uid first = 0;
        Uid last = 0;

        bool operator==(const Range&) const = default;
    };

    UidRanges() = default;
    explicit UidRanges(std::vector<Uid> uids);

    // Strict: ascending, neither touching nor overlapping, no blanks. Error: invalid.
    static Result<UidRanges> parse(std::string_view text);
    // The first ranges that fit in `most` bytes: who is not named isn't there.
    [[nodiscard]] std::string text(std::size_t most) const;

    [[nodiscard]] UidRanges without(const std::set<Uid>& uids) const;
    [[nodiscard]] bool contains(Uid uid) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    [[nodiscard]] const std::vector<Range>& ranges() const noexcept { return ranges_; }
    bool operator==(const UidRanges&) const = default;

  private:
    std::vector<Range> ranges_;
};

}  // namespace llmgw
