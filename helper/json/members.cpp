#include "json/members.hpp"

namespace llmgw::json {

Error wrong(const std::string& key, const Value* value, const std::string& wanted) {
    const std::string found = value == nullptr ? "it is missing" : "found " + described(*value);
    return {Code::invalid, key + ": " + wanted + " is wanted, " + found};
}

Result<std::string> text_at(const Value& object, const std::string& key) {
    const Value* const value = object.find(key);
    const std::string* const text = value == nullptr ? nullptr : value->text();
    if (text == nullptr) return wrong(key, value, "text");
    return *text;
}

Result<std::int64_t> integer_at(const Value& object, const std::string& key) {
    const Value* const value = object.find(key);
    const std::int64_t* const integer = value == nullptr ? nullptr : value->integer();
    if (integer == nullptr) return wrong(key, value, "a whole number");
    return *integer;
}

Result<std::uint64_t> count_at(const Value& object, const std::string& key) {
    const Result<std::int64_t> integer = integer_at(object, key);
    if (!integer) return integer.error();
    if (integer.value() < 0) return Error{Code::invalid, key + ": it is negative"};
    return static_cast<std::uint64_t>(integer.value());
}

}  // namespace llmgw::json
