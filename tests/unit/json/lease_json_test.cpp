#include "json/lease_json.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "fuzz/lease_fuzz.hpp"
#include "fuzz/replay.hpp"

namespace llmgw::json {
namespace {

const char* const text =
    R"({"revision":3,"state":"draining","lease":"n1-7","generation":7,"replicas":2,"reason":"2 are left"})";
const LeaseAnswer answer{3, "draining", "n1-7", 7, 2, "2 are left", {}};

TEST(LeaseJson, refuses_requests_that_are_none) {
    for (const char* const wrong :
         {"", "[]", "{}", R"({"lease":"a"})", R"({"generation":1})", R"({"lease":"a","generation":"1"})",
          R"({"lease":1,"generation":1})", R"({"lease":"a","generation":1.0})",
          R"({"lease":"a","generation":0})", R"({"lease":"a","generation":-1})",
          R"({"lease":"a","generation":9007199254740992})",
          R"({"lease":"a","generation":99999999999999999999})", R"({"lease":"../a","generation":1})",
          R"({"lease":"a\u0000","generation":1})", R"({"lease":"a","lease":"b","generation":1})",
          R"({"lease":"a","generation":1} x)"}) {
        EXPECT_FALSE(read_lease_request(wrong).ok()) << wrong;
    }
    EXPECT_EQ(read_lease_request(R"({"lease":"a","generation":1})" + std::string(limits::lease_bytes, ' '))
                  .error()
                  .code,
              Code::too_large);
}

TEST(LeaseJson, reads_back_what_it_wrote) {
    EXPECT_EQ(text_of(answer), text);
    EXPECT_EQ(read_lease_answer(text).value(), answer);
    LeaseAnswer with = answer;
    with.reclaim = Reclaim{1'700'000'000, "requeue"};
    EXPECT_EQ(read_lease_answer(text_of(with)).value(), with);
    const LeaseRequest request{"n1-7", limits::lease_generation};
    EXPECT_EQ(text_of(request), R"({"lease":"n1-7","generation":9007199254740991})");
    EXPECT_EQ(read_lease_request(text_of(request)).value(), request);
}

TEST(LeaseJson, passes_over_keys_of_a_newer_version) {
    EXPECT_EQ(read_lease_answer(R"({"later":[1],)" + std::string(text).substr(1)).value(), answer);
    EXPECT_TRUE(read_lease_request(R"({"later":1,"lease":"a","generation":1})").ok());
}

TEST(LeaseJson, refuses_answers_that_are_none) {
    for (const auto& [part, other] : {std::pair{R"("draining")", R"("later")"},
                                      {R"("draining")", "null"},
                                      {R"("draining")", R"("free")"},
                                      {R"("revision":3,)", ""},
                                      {R"("revision":3)", R"("revision":-3)"},
                                      {R"("replicas":2)", R"("replicas":-1)"},
                                      {R"("replicas":2)", R"("replicas":4294967296)"},
                                      {R"("replicas":2)", R"("replicas":2.0)"},
                                      {R"("generation":7)", R"("generation":"7")"},
                                      {R"("reason":"2 are left")", R"("reason":null)"},
                                      {R"("2 are left")", R"("a\nb")"},
                                      {"}", R"(,"reclaim":null})"},
                                      {"}", R"(,"reclaim":{"deadline":"1","then":"cancel"}})"},
                                      {"}", R"(,"reclaim":{"deadline":1,"then":"kill"}})"},
                                      {"}", R"(,"reclaim":{"deadline":1}})"}}) {
        std::string wrong = text;
        wrong.replace(wrong.find(part), std::string(part).size(), other);
        EXPECT_FALSE(read_lease_answer(wrong).ok()) << wrong;
    }
}

TEST(LeaseJson, keeps_its_promises_on_the_fuzzers_corpus) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/lease", fuzz::lease), 4U);
}

}  // namespace
}  // namespace llmgw::json
