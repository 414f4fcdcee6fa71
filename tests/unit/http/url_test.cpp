#include "http/url.hpp"

#include <gtest/gtest.h>

namespace llmgw::http {
namespace {

TEST(Url, RefusesWhatCouldBeReadInTwoWays) {
    for (const std::string text : {"",
                                   "leader:8470",
                                   "ftp://h/",
                                   "https://",
                                   "https://:1/",
                                   "https://user@h/",
                                   "https://u:p@h/",
                                   "https://h h/",
                                   "https://h/a b",
                                   "https://h/a\r\nX: y",
                                   "https://h:0/",
                                   "https://h:65536/",
                                   "https://h:1x/",
                                   "https://h:/",
                                   "https://h:-1/",
                                   "https://[::1",
                                   "https://[::1]8/",
                                   "https://[g::1]/",
                                   "https://h/#f",
                                   "https://h\\e/",
                                   "https://h%00/",
                                   "HTTPS://h/",
                                   "https://h_/"}) {
        EXPECT_FALSE(parse_url(text).ok()) << text;
    }
    EXPECT_FALSE(parse_url("https://h/" + std::string(8192, 'a')).ok());
}

TEST(Url, KeepsPasswordsOutOfMessages) {
    EXPECT_EQ(parse_url("https://user:secret@h/").error().message.find("secret"), std::string::npos);
}

TEST(Url, ReadsItsParts) {
    EXPECT_EQ(parse_url("https://leader.example:8470/slurm/v1?wait=3").value(),
              (Url{true, "leader.example", 8470, "/slurm/v1?wait=3"}));
    EXPECT_EQ(parse_url("http://127.0.0.1").value(), (Url{false, "127.0.0.1", 80, "/"}));
    EXPECT_EQ(parse_url("https://[::1]:1?a").value(), (Url{true, "::1", 1, "/?a"}));
    EXPECT_EQ(parse_url("https://[::1]:1/x").value().text(), "https://[::1]:1/x");
}

TEST(Loopback, IsOnlyWhatNeedsNoLookUp) {
    for (const std::string host :
         {"", "127.0.0.1.example.com", "localhost.example.com", "127.1", "127.0.0.1.", "10.0.0.1",
          "0127.0.0.1", "127.0.0.01", "127.0.0.256", "127..0.1", "::2", "LOCALHOST", "0.0.0.0",
          "::ffff:127.0.0.1", "127.0.0.1.1", "0x7f.0.0.1", "2130706433"}) {
        EXPECT_FALSE(is_loopback(host)) << host;
    }
    for (const std::string host : {"localhost", "127.0.0.1", "127.255.0.9", "::1"})
        EXPECT_TRUE(is_loopback(host)) << host;
}

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
