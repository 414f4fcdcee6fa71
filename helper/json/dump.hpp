// Value -> JSON text.
#pragma once

#include <string>

#include "core/value.hpp"

namespace llmgw::json {

enum class Layout {
    compact,   // one line, no blanks: for the wire
    indented,  // two blanks a level and a line break at the end: for files and people
};

enum class Order {
    as_built,
    sorted,  // members by key, bytewise: equal values give equal text
};

// Cannot fail: bytes that are not UTF-8 become U+FFFD, numbers that JSON does not have (infinities, NaN)
// null. This is why it does not go through jansson, which gives up on both. What it writes, load() reads back
// as equal.
[[nodiscard]] std::string dump(const Value& value, Layout layout = Layout::compact,
                               Order order = Order::as_built);

}  // namespace llmgw::json
