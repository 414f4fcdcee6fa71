#include "http/url.hpp"

#include <gtest/gtest.h>

namespace llmgw::http {
namespace {

TEST(RequestTarget, RefusesWhatClimbsOrHides) {
    for (const std::string text :
         {"", "*", "http://h/", "/a/../b", "/a/%2e%2e", "/a/.%2E/b", "/.", "/a%00", "/a%", "/a%2", "/a%zz",
          "/?a=%00", "/?a=1&a=2", "/?%", "/a b", "/a\tb", "/a#b", "/\xC3\xA4"}) {
        EXPECT_FALSE(parse_target(text).ok()) << text;
    }
}

TEST(RequestTarget, IsDecodedAfterItIsSplit) {
    const Target target = parse_target("/slurm/v1/m%2Fx/?wait=3&a%3Db=c+d&e").value();
    EXPECT_EQ(target.segments, (std::vector<std::string>{"slurm", "v1", "m/x", ""}));
    EXPECT_EQ(target.query, (std::map<std::string, std::string>{{"wait", "3"}, {"a=b", "c+d"}, {"e", ""}}));
    EXPECT_EQ(parse_target("/").value().segments, std::vector<std::string>{""});
}

TEST(RequestTarget, TakesBackWhatWasEncoded) {
    const std::string hostile = std::string("../x y/\xC3\xA4%?&#", 13);
    EXPECT_EQ(parse_target("/" + percent_encoded(hostile)).value().segments,
              std::vector<std::string>{hostile});
    EXPECT_EQ(percent_encoded("n1.a-b_c~"), "n1.a-b_c~");
}

}  // namespace
}  // namespace llmgw::http
