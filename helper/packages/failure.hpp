// Why a package manager failed, as far as its output says it.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw::packages {

enum class Trouble {
    locked,    // somebody else is at work; nothing was done
    index,     // a name or version isn't known, or a file isn't at the repository any more: an old index does
               // that
    damaged,   // a package file
    conflict,  // a held, newer or removed package is in the way
    space,
    network,
    other,
};

struct Failure {
    Trouble trouble = Trouble::other;
    std::string reason;  // the line of the output that says most

    bool operator==(const Failure&) const = default;
};

// A part of a line of output, and what it means.
struct Sign {
    std::string_view part;
    Trouble trouble;
};

// `what` begins the sentence: "cannot install enroot".
Error error_of(const Failure& failure, const std::string& what);

}  // namespace llmgw::packages
