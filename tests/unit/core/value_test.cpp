#include "core/value.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace llmgw {
namespace {

TEST(Value, GivesNothingOfAnotherKind) {
    const Value text("true");
    EXPECT_EQ(text.boolean(), nullptr);
    EXPECT_EQ(text.integer(), nullptr);
    EXPECT_EQ(text.real(), nullptr);
    EXPECT_EQ(text.array(), nullptr);
    EXPECT_EQ(text.object(), nullptr);
    EXPECT_EQ(text.find("true"), nullptr);
    EXPECT_EQ(Value().text(), nullptr);
    EXPECT_EQ(Value(1).boolean(), nullptr);
}

TEST(Value, KnowsItsKind) {
    EXPECT_EQ(Value().kind(), Value::Kind::null);
    EXPECT_EQ(Value(false).kind(), Value::Kind::boolean);
    EXPECT_EQ(Value(1).kind(), Value::Kind::integer);
    EXPECT_EQ(Value(1.5).kind(), Value::Kind::real);
    EXPECT_EQ(Value("x").kind(), Value::Kind::text);
    EXPECT_EQ(Value(Value::Array{}).kind(), Value::Kind::array);
    EXPECT_EQ(Value(Value::Object{}).kind(), Value::Kind::object);
}

TEST(Value, TurnsUnsignedPastTheLimitIntoAReal) {
    EXPECT_EQ(*Value(std::uint64_t{INT64_MAX}).integer(), INT64_MAX);
    EXPECT_EQ(*Value(std::uint64_t{INT64_MAX} + 1).real(), 9223372036854775808.0);
}

TEST(Value, SetsEachKeyOnceAndKeepsTheOrder) {
    Value value;
    value.set("b", 1).set("a", 2).set("b", 3);
    ASSERT_EQ(value.object()->size(), 2U);
    EXPECT_EQ(value.object()->front().first, "b");
    EXPECT_EQ(*value.find("b")->integer(), 3);
    EXPECT_EQ(value.find("c"), nullptr);
}

TEST(Value, AddsToAList) {
    Value value;
    value.add(1).add("x");
    EXPECT_EQ(value, Value(Value::Array{1, "x"}));
}

TEST(Value, ComparesObjectsWhateverTheirOrder) {
    Value one;
    Value other;
    one.set("a", 1).set("b", Value::Array{true});
    other.set("b", Value::Array{true}).set("a", 1);
    EXPECT_EQ(one, other);
    other.set("a", 2);
    EXPECT_NE(one, other);
    EXPECT_NE(Value(Value::Array{1, 2}), Value(Value::Array{2, 1}));
    EXPECT_NE(Value(1), Value(1.0));
    EXPECT_NE(Value(), Value(false));
}

TEST(Value, IsDescribedForPeople) {
    EXPECT_EQ(described(Value()), "null");
    EXPECT_EQ(described(true), "true");
    EXPECT_EQ(described(-5), "the number -5");
    EXPECT_EQ(described(0.5), "a number");
    EXPECT_EQ(described("a\nb"), "the text \"a?b\"");
    EXPECT_EQ(described(Value::Array{}), "a list");
    EXPECT_EQ(described(Value::Object{}), "an object");
}

}  // namespace
}  // namespace llmgw
