// Which of dnf's many lines says why, and rpm's order of versions.
#include <algorithm>
#include <array>

#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "packages/dnf_output.hpp"

namespace llmgw::packages::dnf {
namespace {

constexpr std::array signs{
    Sign{"can't create transaction lock", Trouble::locked},
    Sign{" already locked by ", Trouble::locked},
    Sign{"Failed to obtain rpm transaction lock", Trouble::locked},
    Sign{"Another transaction is in progress", Trouble::locked},
    Sign{"No space left on device", Trouble::space},
    Sign{" more space needed on the ", Trouble::space},
    Sign{"more space on the ", Trouble::space},
    Sign{"Can not load RPM file", Trouble::damaged},
    Sign{"Failed to load RPM", Trouble::damaged},
    Sign{"Could not open: ", Trouble::damaged},
    Sign{"DIGESTS NOT OK", Trouble::damaged},
    Sign{": BAD, ", Trouble::damaged},
    Sign{"filtered out by exclude filtering", Trouble::conflict},
    Sign{"excluded by versionlock", Trouble::conflict},
    Sign{"matches only excluded packages", Trouble::conflict},
    Sign{"Unable to find a match", Trouble::index},
    Sign{"No match for argument", Trouble::index},
    Sign{"nothing provides", Trouble::index},
    Sign{"Status code: 404", Trouble::index},
    Sign{"cannot install both", Trouble::conflict},
    Sign{"conflicts with", Trouble::conflict},
    Sign{"Problem", Trouble::conflict},
    Sign{"Curl error", Trouble::network},
    Sign{"Failed to download metadata", Trouble::network},
    Sign{"Cannot download", Trouble::network},
    Sign{"Cannot find a valid baseurl", Trouble::network},
    Sign{"GPG check FAILED", Trouble::other},
    Sign{"Error in ", Trouble::other},  // a package's script
    Sign{"Transaction failed: ", Trouble::other},
    Sign{"Error: ", Trouble::other},
};

std::string_view without_mark(std::string_view line) {
    line = trimmed(line);
    for (const std::string_view mark : {"Error: ", "- ", ">>> ", "RPM: error: ", "error: "}) {
        if (line.starts_with(mark)) line.remove_prefix(mark.size());
    }
    return line;
}

// The next piece of a version: digits, letters, or one of ~ ^ which sort before and after nothing.
std::string_view next_piece(std::string_view& rest) {
    while (!rest.empty() && !is_alphanumeric(rest[0]) && rest[0] != '~' && rest[0] != '^')
        rest.remove_prefix(1);
    if (rest.empty()) return {};
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t length = 1;
    if (is_alphanumeric(rest[0])) {
        while (length < rest.size() && is_alphanumeric(rest[length]) && digit(rest[length]) == digit(rest[0]))
            ++length;
    }
    const std::string_view piece = rest.substr(0, length);
    rest.remove_prefix(length);
    return piece;
}

int order_of_pieces(std::string_view left, std::string_view right) {
    if (left == right) return 0;
    if (left == "~") return -1;
    if (right == "~") return 1;
    if (left.empty()) return -1;
    if (right.empty()) return 1;
    if (left == "^") return -1;
    if (right == "^") return 1;
    const bool left_number = left[0] >= '0' && left[0] <= '9';
    const bool right_number = right[0] >= '0' && right[0] <= '9';
    if (left_number != right_number) return left_number ? 1 : -1;
    if (!left_number) return left < right ? -1 : 1;
    left.remove_prefix(std::min(left.find_first_not_of('0'), left.size()));
    right.remove_prefix(std::min(right.find_first_not_of('0'), right.size()));
    if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
    return left == right ? 0 : left < right ? -1 : 1;
}

int compare_parts(std::string_view left, std::string_view right) {
    while (!left.empty() || !right.empty()) {
        const std::string_view left_piece = next_piece(left);
        const std::string_view right_piece = next_piece(right);
        if (const int order = order_of_pieces(left_piece, right_piece); order != 0) return order;
        if (left_piece.empty() && right_piece.empty()) break;
    }
    return 0;
}

std::string_view cut(std::string_view& text, char at, std::string_view otherwise) {
    const std::size_t place = text.find(at);
    if (place == std::string_view::npos) return otherwise;
    const std::string_view before = text.substr(0, place);
    text.remove_prefix(place + 1);
    return before;
}

}  // namespace

Failure failure_of(const std::string& output) {
    const std::vector<std::string_view> lines = split(output, '\n');
    for (const Sign& sign : signs) {
        const auto found = std::find_if(lines.begin(), lines.end(),
                                        [&](std::string_view line) { return contains(line, sign.part); });
        if (found == lines.end()) continue;
        return {sign.trouble, printable(without_mark(*found), limits::message_bytes / 2)};
    }
    std::string_view last;
    for (const std::string_view line : lines) {
        if (!trimmed(line).empty()) last = line;
    }
    return {Trouble::other, printable(without_mark(last), limits::message_bytes / 2)};
}

bool may_be_locked(const std::string& output) {
    return contains(output, "Rpm transaction failed") && !contains(output, ">>> ") &&
           !contains(output, "\n  - ");
}

int compare_versions(std::string_view left, std::string_view right) {
    if (const int order = compare_parts(cut(left, ':', "0"), cut(right, ':', "0")); order != 0) return order;
    std::string_view left_version = left.substr(0, left.rfind('-'));
    std::string_view right_version = right.substr(0, right.rfind('-'));
    if (const int order = compare_parts(left_version, right_version); order != 0) return order;
    const auto release = [](std::string_view text) {
        const std::size_t dash = text.rfind('-');
        return dash == std::string_view::npos ? std::string_view() : text.substr(dash + 1);
    };
    return compare_parts(release(left), release(right));
}

}  // namespace llmgw::packages::dnf
