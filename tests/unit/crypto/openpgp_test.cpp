#include "crypto/openpgp.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "fuzz/openpgp_fuzz.hpp"
#include "fuzz/replay.hpp"

namespace llmgw::crypto {
namespace {

// What gpg says of the keys in the corpus, which nobody has the other half of.
constexpr const char* of_ed25519 = "5687A5C9D802DBE5111715369FF34C17CFA7BA5B";
constexpr const char* of_rsa = "13E43F3BCDBDB7210DA7074D1E9A5C21C584CE23";

std::string corpus(const std::string& name) {
    std::ifstream file(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/openpgp/" + name, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(std::string_view text) {
    const Result<std::string> fingerprint = primary_fingerprint(text);
    if (fingerprint.ok()) return "takes it";
    EXPECT_EQ(fingerprint.error().code, Code::invalid);
    constexpr std::string_view head = "not one whole OpenPGP public key: ";
    EXPECT_TRUE(fingerprint.error().message.starts_with(head)) << fingerprint.error().message;
    return fingerprint.error().message.substr(head.size());
}

TEST(OpenPgp, SecondKeysAreRefused) {
    EXPECT_EQ(refusal(corpus("two-keys.asc")), "it has more than one primary key");
    EXPECT_EQ(refusal(corpus("two-blocks.asc")), "something comes after it");
    EXPECT_EQ(refusal(corpus("ed25519.gpg") + corpus("ed25519.gpg")), "it has more than one primary key");
    EXPECT_NE(refusal(corpus("ed25519.gpg") + corpus("rsa.asc")), "takes it");
}

TEST(OpenPgp, WhatIsNoWholeKeyIsRefused) {
    EXPECT_EQ(refusal(""), "it is empty");
    EXPECT_EQ(refusal(corpus("html")), "it doesn't begin with -----BEGIN PGP PUBLIC KEY BLOCK-----");
    EXPECT_EQ(refusal("-----BEGIN PGP PUBLIC KEY BLOCK-----"), "it is cut off");
    EXPECT_EQ(refusal("-----BEGIN PGP PUBLIC KEY BLOCK-----\nabcd\n"),
              "an empty line is missing above its data");
    EXPECT_EQ(refusal(corpus("no-end.asc")), "it is cut off");
    EXPECT_EQ(refusal(corpus("bad-checksum.asc")),
              "its checksum doesn't fit: was it cut or changed on its way?");
    EXPECT_EQ(refusal(corpus("partial-length")), "it is cut off");
    EXPECT_EQ(refusal(corpus("long-length")), "it is cut off");
    EXPECT_EQ(refusal(corpus("no-length")), "it is cut off");
    EXPECT_EQ(refusal("\xC6\x02\x04\x01"), "its primary key has no key in it");
    EXPECT_EQ(refusal("\xC6\x09\x06"
                      "12345678"),
              "its primary key is of version 6, and only version 4 is known here");
    EXPECT_EQ(refusal("\xC5\x09\x04"
                      "12345678"),
              "it has a secret key in it");
    EXPECT_EQ(refusal("\xCD\x01x"), "it has an OpenPGP packet (tag 13) that is none of a key's");
    EXPECT_EQ(refusal(corpus("ed25519.gpg") + "\xCB\x01x"),
              "it has an OpenPGP packet (tag 11) that is none of a key's");
    EXPECT_EQ(refusal(corpus("ed25519.gpg") + "x"), "it has bytes that are no OpenPGP packet");
    // Cut anywhere: never taken, unless only the line break at its end is gone.
    const std::string key = corpus("ed25519.asc");
    for (std::size_t length = 0; length + 1 < key.size(); ++length)
        EXPECT_NE(refusal(key.substr(0, length)), "takes it") << length;
}

TEST(OpenPgp, IsBounded) {
    const std::string key = corpus("ed25519.asc");
    const std::string most = key + std::string(limits::openpgp_key_bytes - key.size(), '\n');
    EXPECT_EQ(primary_fingerprint(most).value(), of_ed25519);
    EXPECT_EQ(primary_fingerprint(most + "\n").error().code, Code::too_large);
    EXPECT_EQ(dearmored(most + "\n").error().code, Code::too_large);
}

TEST(OpenPgp, FingerprintsAreTheOnesThatGpgSays) {
    for (const char* name : {"ed25519.asc", "ed25519.gpg", "dos.asc", "no-checksum.asc", "headers.asc"}) {
        const Result<std::string> fingerprint = primary_fingerprint(corpus(name));
        ASSERT_TRUE(fingerprint.ok()) << name << ": " << fingerprint.error().message;
        EXPECT_EQ(fingerprint.value(), of_ed25519) << name;
    }
    EXPECT_EQ(primary_fingerprint(corpus("rsa.asc")).value(), of_rsa);
    EXPECT_EQ(primary_fingerprint("\n\n" + corpus("rsa.asc") + "\n \n").value(), of_rsa);
    EXPECT_EQ(dearmored(corpus("ed25519.asc")).value(), corpus("ed25519.gpg"));
}

TEST(OpenPgp, EveryKeyOfTheCorpusKeepsThePromises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/openpgp", fuzz::openpgp), 14U);
}

}  // namespace
}  // namespace llmgw::crypto
