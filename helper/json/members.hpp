// A document's members by key, or one line why one isn't as it is wanted (invalid).
#pragma once

#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "core/value.hpp"

namespace llmgw::json {

// "KEY: WANTED is wanted, found ...", or that it is missing (null).
Error wrong(const std::string& key, const Value* value, const std::string& wanted);

Result<std::string> text_at(const Value& object, const std::string& key);
Result<std::int64_t> integer_at(const Value& object, const std::string& key);
// An integer that is not negative.
Result<std::uint64_t> count_at(const Value& object, const std::string& key);

}  // namespace llmgw::json
