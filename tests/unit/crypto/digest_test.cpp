#include "crypto/digest.hpp"

#include <gtest/gtest.h>

namespace llmgw::crypto {
namespace {

// FIPS 180-4's examples.
constexpr const char* of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Digest, OfAPieceAndOfPieces) {
    EXPECT_EQ(sha256_hex("abc").value(), of_abc);
    EXPECT_EQ(sha256_hex("").value(), of_nothing);
    Sha256 digest;
    digest.update("a");
    digest.update("");
    digest.update("bc");
    EXPECT_EQ(digest.hex().value(), of_abc);
    EXPECT_EQ(Sha256().hex().value(), of_nothing);
    EXPECT_EQ(sha1_hex_upper("abc").value(), "A9993E364706816ABA3E25717850C26C9CD0D89D");
}

TEST(Digest, CountsNulBytes) {
    using namespace std::string_view_literals;
    EXPECT_NE(sha256_hex("a\0b"sv).value(), sha256_hex("a").value());
}

TEST(Digest, IsAskedForOnce) {
    Sha256 digest;
    digest.update("abc");
    Sha256 moved = std::move(digest);
    EXPECT_EQ(moved.hex().value(), of_abc);
    EXPECT_EQ(moved.hex().error().code, Code::internal);
}

}  // namespace
}  // namespace llmgw::crypto
