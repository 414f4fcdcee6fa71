#include "leader/options.hpp"

#include <gtest/gtest.h>

namespace llmgw::leader {
namespace {

TEST(LeaderOptions, RefuseWhatIsNoAddressAndPort) {
    for (const std::string text :
         {"", "127.0.0.1", ":8470", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
          "::1:8470", "[::1]", "[127.0.0.1]:1", "[]:1", "127.0.0.1:80 "}) {
        Options options;
        EXPECT_FALSE(set_listen(options, text).ok()) << text;
    }
}

TEST(LeaderOptions, ReadAddressAndPort) {
    Options options;
    ASSERT_TRUE(set_listen(options, "[::1]:0").ok());
    EXPECT_EQ(options.address, "::1");
    EXPECT_EQ(options.port, 0);
    ASSERT_TRUE(set_listen(options, "10.0.0.1:65535").ok());
    EXPECT_EQ(options.address, "10.0.0.1");
    EXPECT_EQ(options.port, 65535);
}

}  // namespace
}  // namespace llmgw::leader
