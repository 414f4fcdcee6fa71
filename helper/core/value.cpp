#include "core/value.hpp"

#include <algorithm>
#include <limits>

#include "core/shown.hpp"

namespace llmgw {

namespace {

std::vector<const Value::Member*> sorted(const Value::Object& object) {
    std::vector<const Value::Member*> members;
    members.reserve(object.size());
    for (const Value::Member& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const auto* left, const auto* right) { return left->first < right->first; });
    return members;
}

bool same_members(const Value::Object& left, const Value::Object& right) {
    if (left.size() != right.size()) return false;
    const auto lefts = sorted(left);
    const auto rights = sorted(right);
    return std::equal(lefts.begin(), lefts.end(), rights.begin(),
                      [](const auto* one, const auto* other) { return *one == *other; });
}

}  // namespace

Value::Value(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        content_ = static_cast<std::int64_t>(value);
    } else {
        content_ = static_cast<double>(value);
    }
}

const Value* Value::find(std::string_view key) const noexcept {
    const Object* members = object();
    if (members == nullptr) return nullptr;
    for (const auto& [name, value] : *members) {
        if (name == key) return &value;
    }
    return nullptr;
}

Value& Value::set(std::string_view key, Value value) {
    if (object() == nullptr) content_ = Object{};
    auto& members = *std::get_if<Object>(&content_);
    for (auto& [name, old] : members) {
        if (name == key) {
            old = std::move(value);
            return *this;
        }
    }
    members.emplace_back(std::string(key), std::move(value));
    return *this;
}

Value& Value::add(Value value) {
    if (array() == nullptr) content_ = Array{};
    std::get_if<Array>(&content_)->push_back(std::move(value));
    return *this;
}

bool Value::operator==(const Value& other) const {
    if (kind() != other.kind()) return false;
    if (const Object* members = object()) return same_members(*members, *other.object());
    return content_ == other.content_;
}

std::string described(const Value& value) {
    switch (value.kind()) {
        case Value::Kind::null:
            return "null";
        case Value::Kind::boolean:
            return *value.boolean() ? "true" : "false";
        case Value::Kind::integer:
            return "the number " + std::to_string(*value.integer());
        case Value::Kind::real:
            return "a number";
        case Value::Kind::text:
            return "the text " + shown(*value.text());
        case Value::Kind::array:
            return "a list";
        case Value::Kind::object:
            return "an object";
    }
    return "something else";
}

}  // namespace llmgw
