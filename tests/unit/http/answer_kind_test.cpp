#include "http/answer_kind.hpp"

#include <gtest/gtest.h>

namespace llmgw::http {
namespace {

TEST(ContentRangeHeader, IsReadExactlyOrNotAtAll) {
    EXPECT_EQ(parse_content_range("bytes 0-99/1000"), (ContentRange{0, 99, 1000}));
    EXPECT_EQ(parse_content_range("bytes 5-5/*"), (ContentRange{5, 5, std::nullopt}));
    for (const char* text :
         {"", "bytes", "bytes 0-99", "bytes 0-99/", "bytes 0-99/99", "bytes 9-8/100", "bytes -9/100",
          "bytes 0-/100", "bytes */100", "Bytes 0-9/10", "bytes 0-9/10 ", "bytes 0-9/1x", "bytes +0-9/10",
          "items 0-9/10", "bytes 0-99999999999999999999/*"}) {
        EXPECT_FALSE(parse_content_range(text).has_value()) << text;
    }
    EXPECT_EQ(parse_unsatisfied_range("bytes */7"), 7U);
    EXPECT_FALSE(parse_unsatisfied_range("bytes */*").has_value());
    EXPECT_FALSE(parse_unsatisfied_range("bytes 0-1/7").has_value());
}

TEST(ContentLengthHeader, IsANumberOrNothing) {
    EXPECT_EQ(parse_length("0"), 0U);
    EXPECT_EQ(parse_length("18446744073709551615"), 18446744073709551615U);
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "1,1", "0x10", "18446744073709551616"})
        EXPECT_FALSE(parse_length(text).has_value()) << text;
}

TEST(Statuses, ThatPassAndThatStay) {
    for (const int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_passing(status)) << status;
    for (const int status : {204, 304, 400, 401, 403, 404, 405, 410, 416, 451, 501, 505, 600})
        EXPECT_FALSE(is_passing(status)) << status;
    EXPECT_EQ(refusal_of(404), (Error{Code::missing, "the server answers 404 Not Found: it isn't there"}));
    EXPECT_EQ(refusal_of(410).code, Code::missing);
    EXPECT_EQ(refusal_of(403).code, Code::denied);
    EXPECT_EQ(refusal_of(418), (Error{Code::unavailable, "the server answers 418"}));
}

TEST(Redirects, LeadToNoLessThanWhereTheyCameFrom) {
    for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
             {"https://a/", "http://a/"},
             {"https://a/", "http://127.0.0.1/"},
             {"http://127.0.0.1:1/", "http://127.0.0.1:2/"},
             {"http://127.0.0.1:1/", "http://localhost:1/"},
             {"http://127.0.0.1:1/", "http://a:1/"},
             {"http://127.0.0.1:1/", "https://a/"},
             {"https://a/", "ftp://a/"},
             {"https://a/", "file:///etc/shadow"},
             {"https://a/", "https://user@b/"},
             {"https://a/", "//b/"},
             {"https://a/", ""}}) {
        const Result<std::string> target = followed(from, to);
        ASSERT_FALSE(target.ok()) << from << " -> " << to;
        EXPECT_EQ(target.error().code, Code::invalid);
        EXPECT_NE(target.error().message.find("redirected"), std::string::npos) << target.error().message;
    }
    EXPECT_EQ(followed("https://a/x", "https://b:8443/y?sig=1#part").value(), "https://b:8443/y?sig=1");
    EXPECT_EQ(followed("http://127.0.0.1:1/x", "http://127.0.0.1:1/y").value(), "http://127.0.0.1:1/y");
}

}  // namespace
}  // namespace llmgw::http
