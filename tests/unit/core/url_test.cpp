#include "core/url.hpp"

#include <gtest/gtest.h>

namespace llmgw {
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
    EXPECT_EQ(parse_url("https://h:443").value().text(), "https://h/");
    EXPECT_EQ(parse_url("http://h:443/").value().text(), "http://h:443/");
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

TEST(PercentEncoding, IsTakenBack) {
    EXPECT_EQ(percent_encoded("enroot+caps_4.2.1-1_amd64.deb"), "enroot%2Bcaps_4.2.1-1_amd64.deb");
    EXPECT_EQ(percent_decoded("enroot%2Bcaps%2b").value(), "enroot+caps+");
    for (const char* text : {"%", "%2", "%zz", "a%00"}) EXPECT_FALSE(percent_decoded(text).ok()) << text;
}

}  // namespace
}  // namespace llmgw
