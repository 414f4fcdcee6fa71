// Where a pinned file is brought from: its own origin, or the mirror that stands in for all of them.
#pragma once

#include <string>

#include "core/releases.hpp"
#include "core/result.hpp"

namespace llmgw::service {

struct FetchOrigin {
    bool local = false;                                            // in a directory of this machine
    std::string place;                                             // an URL, or the directory
    [[nodiscard]] std::string text(const PinnedFile& file) const;  // for messages, without a query

    bool operator==(const FetchOrigin&) const = default;
};

// `mirror`: empty, an https:// URL (or http:// to loopback), an absolute directory, or file:// and one. Below
// a URL a file is its escaped name. invalid: none of these, or a file whose name or own URL can't be used.
Result<FetchOrigin> origin_of(const PinnedFile& file, const std::string& mirror);

}  // namespace llmgw::service
