#include "core/base64.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(Base64, refuses_what_is_none) {
    for (const char* wrong :
         {"A", "AB", "ABC", "A===", "====", "AB=C", "AB==AB==", "AB*=", "Zm9v\n", "Zh==", "Zm9="}) {
        EXPECT_FALSE(from_base64(wrong).ok()) << wrong;
    }
}

// RFC 4648, section 10.
TEST(Base64, writes_and_reads_the_vectors_of_its_standard) {
    const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                           {"f", "Zg=="},
                                                           {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},
                                                           {"foob", "Zm9vYg=="},
                                                           {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : vectors) {
        EXPECT_EQ(base64_of(bytes), text);
        EXPECT_EQ(from_base64(text).value(), bytes);
    }
}

TEST(Base64, carries_every_byte) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    for (std::size_t cut = 0; cut < 4; ++cut) {
        EXPECT_EQ(from_base64(base64_of(bytes.substr(cut))).value(), bytes.substr(cut));
    }
}

}  // namespace
}  // namespace llmgw
