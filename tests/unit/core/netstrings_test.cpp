#include "core/netstrings.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(Netstrings, that_are_none_are_refused) {
    for (const char* text : {"1", "1:", "1:a", "2:a,", "01:a,", "1:ab,", "-1:a,", ":a,", "1:a,x",
                             "99999999999999999999:a,", "18446744073709551615:a,", " 1:a,"}) {
        EXPECT_FALSE(unpack_netstrings(text)) << text;
    }
}

TEST(Netstrings, come_back_as_they_were) {
    for (const std::vector<std::string>& texts : {std::vector<std::string>{},
                                                  {""},
                                                  {"a", "", "b:c,1:"},
                                                  {std::string("\0\n", 2), std::string(70000, 'x')}}) {
        EXPECT_EQ(unpack_netstrings(pack_netstrings(texts)), texts);
    }
}

}  // namespace
}  // namespace llmgw
