#include "core/uid_ranges.hpp"

#include <algorithm>
#include <charconv>

#include "core/text.hpp"

namespace llmgw {
namespace {

// Digits only, without leading zeros, so that one set has one text.
bool read_uid(std::string_view text, Uid& uid) {
    if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
    return error == std::errc{} && end == text.data() + text.size();
}

bool read_range(std::string_view text, UidRanges::Range& range) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
        if (!read_uid(text, range.first)) return false;
        range.last = range.first;
        return true;
    }
    return read_uid(text.substr(0, dash), range.first) && read_uid(text.substr(dash + 1), range.last) &&
           range.first < range.last;
}

std::string text_of(const UidRanges::Range& range) {
    const std::string first = std::to_string(range.first);
    return range.first == range.last ? first : first + "-" + std::to_string(range.last);
}

}  // namespace

UidRanges::UidRanges(std::vector<Uid> uids) {
    std::sort(uids.begin(), uids.end());
    for (const Uid uid : uids) {
        if (!ranges_.empty() && uid <= ranges_.back().last) continue;
        if (!ranges_.empty() && uid == ranges_.back().last + 1) {
            ranges_.back().last = uid;
        } else {
            ranges_.push_back({uid, uid});
        }
    }
}

Result<UidRanges> UidRanges::parse(std::string_view text) {
    UidRanges result;
    if (text.empty()) return result;
    for (const std::string_view piece : split(text, ',')) {
        Range range;
        if (!read_range(piece, range)) {
            return Error{Code::invalid, "a piece of it is neither a number nor a range of numbers"};
        }
        // The last number of all is no user's, so that one more than a last one is always a number.
        const bool apart =
            result.ranges_.empty() || range.first > std::uint64_t{result.ranges_.back().last} + 1;
        if (!apart) return Error{Code::invalid, "its numbers are not in order"};
        result.ranges_.push_back(range);
    }
    return result;
}

std::string UidRanges::text(std::size_t most) const {
    std::string all;
    for (const Range& range : ranges_) {
        const std::string next = (all.empty() ? "" : ",") + text_of(range);
        if (all.size() + next.size() > most) break;
        all += next;
    }
    return all;
}

UidRanges UidRanges::without(const std::set<Uid>& uids) const {
    UidRanges result;
    for (const Range& range : ranges_) {
        Uid first = range.first;
        for (auto uid = uids.lower_bound(range.first); uid != uids.end() && *uid <= range.last; ++uid) {
            if (*uid > first) result.ranges_.push_back({first, *uid - 1});
            first = *uid + 1;
        }
        if (first <= range.last) result.ranges_.push_back({first, range.last});
    }
    return result;
}

bool UidRanges::contains(Uid uid) const noexcept {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), uid,
                                        [](Uid value, const Range& range) { return value < range.first; });
    return after != ranges_.begin() && uid <= std::prev(after)->last;
}

}  // namespace llmgw
