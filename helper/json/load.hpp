// JSON text from somebody else -> Value. Strict: what two readers could understand differently is an error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.hpp"
#include "core/result.hpp"
#include "core/value.hpp"

namespace llmgw::json {

struct Problem {
    Code code = Code::invalid;  // too_large for a limit
    std::string key;            // of a key that is there twice: its path, such as `shared.nfs`; printable
    std::string message;        // one line
    int line = 0;               // from 1; 0: the document as a whole
    int column = 0;             // in characters, from 1

    bool operator==(const Problem&) const = default;
};

struct Document {
    // There whenever the text is JSON within the limits, also with a key twice (the last one counts) or
    // something after it, so that what it says can be judged together with these problems.
    std::optional<Value> root;
    std::vector<Problem>
        problems;  // in the order of the text, save that what comes after the document is first
};

struct Limits {
    std::size_t bytes = limits::settings_bytes;
    std::size_t depth = limits::json_depth;
};

// All problems of a text at once: its first syntax error, each key that an object has more than once (by what
// it says, not by how it is escaped), anything after the document, a NUL byte, a byte order mark, a limit.
// Each object and list counts as one level of depth.
[[nodiscard]] Document load(std::string_view text, const Limits& within = {});

// The same for who needs no list, such as a request's body: the value, or the first problem with its place.
[[nodiscard]] Result<Value> parse(std::string_view text, const Limits& within = {});

}  // namespace llmgw::json
