// A JSON document as a plain value, so that what judges a document needs no JSON library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace llmgw {

class Value {
  public:
    using Array = std::vector<Value>;
    using Member = std::pair<std::string, Value>;
    using Object = std::vector<Member>;  // in the order written; a key appears once

    enum class Kind { null, boolean, integer, real, text, array, object };

    Value() = default;  // null
    Value(bool value) : content_(value) {}
    Value(int value) : content_(std::int64_t{value}) {}
    Value(std::int64_t value) : content_(value) {}
    // Past INT64_MAX it becomes a real, as it does in every JSON reader without big integers.
    Value(std::uint64_t value);
    Value(double value) : content_(value) {}
    Value(std::string value) : content_(std::move(value)) {}
    Value(std::string_view value) : content_(std::string(value)) {}
    Value(const char* value) : content_(std::string(value)) {}
    Value(Array value) : content_(std::move(value)) {}
    Value(Object value) : content_(std::move(value)) {}

    [[nodiscard]] Kind kind() const noexcept { return static_cast<Kind>(content_.index()); }

    // Null where the value is of another kind.
    [[nodiscard]] const bool* boolean() const noexcept { return std::get_if<bool>(&content_); }
    [[nodiscard]] const std::int64_t* integer() const noexcept {
        return std::get_if<std::int64_t>(&content_);
    }
    [[nodiscard]] const double* real() const noexcept { return std::get_if<double>(&content_); }
    [[nodiscard]] const std::string* text() const noexcept { return std::get_if<std::string>(&content_); }
    [[nodiscard]] const Array* array() const noexcept { return std::get_if<Array>(&content_); }
    [[nodiscard]] const Object* object() const noexcept { return std::get_if<Object>(&content_); }

    // The member of an object; null where this is no object or has no such key.
    [[nodiscard]] const Value* find(std::string_view key) const noexcept;
    // Replaces or appends a member; anything that was no object becomes one first.
    Value& set(std::string_view key, Value value);
    // Appends to an array; anything that was no array becomes one first.
    Value& add(Value value);

    // Objects are equal when they have the same members, in whatever order.
    bool operator==(const Value& other) const;

  private:
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> content_;
};

// What a value is, in words for a message: `the text "yes"`, `the number 5`, `a list`, `null`.
[[nodiscard]] std::string described(const Value& value);

}  // namespace llmgw
