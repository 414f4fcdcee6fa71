#include "core/releases.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

TEST(PinnedName, IsAPlainFileName) {
    for (const std::string name : {"", ".", "..", ".lock", "-rf", "a/b", "/a", "a b", "a\n", "a:b", "a\\b",
                                   "a%2Bb", "x.part", "x.from", "x.rejected", "\xC3\xA4"}) {
        EXPECT_FALSE(is_pinned_name(name)) << name;
    }
    EXPECT_FALSE(is_pinned_name(std::string("a\0b", 3)));
    for (const std::string name :
         {"enroot+caps_4.2.1-1_amd64.deb", "a", "0", "libnvidia-container-gpgkey", "a.partial", "x~1"}) {
        EXPECT_TRUE(is_pinned_name(name)) << name;
    }
    EXPECT_TRUE(is_pinned_name(std::string(limits::file_name_bytes, 'a')));
    EXPECT_FALSE(is_pinned_name(std::string(limits::file_name_bytes + 1, 'a')));
}

TEST(PinnedDigest, HasSixtyFourLowerCaseDigits) {
    EXPECT_TRUE(is_sha256("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    EXPECT_FALSE(is_sha256("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"));
    EXPECT_FALSE(is_sha256("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"));
    EXPECT_FALSE(is_sha256("0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF"));
    EXPECT_FALSE(is_sha256("g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    EXPECT_FALSE(is_sha256(""));
}

TEST(EnrootPackages, OfAnUnknownPlatformAreRefusedBeforeAnythingIsFetched) {
    Releases releases;
    releases.enroot.version = "4.2.1";
    const Platform debian{Family::deb, Architecture::arm64};
    EXPECT_EQ(enroot_packages(releases, debian).error(),
              (Error{Code::invalid,
                     "the releases have no enroot 4.2.1 for deb packages on arm64, only for nothing: add its "
                     "packages to releases.json, or keep containers off this machine"}));
    releases.enroot.packages[{Family::rpm, Architecture::amd64}] = {};
    releases.enroot.packages[{Family::deb, Architecture::amd64}] = {{"a", "b", "c"}};
    const Result<std::vector<PinnedFile>> none = enroot_packages(releases, debian);
    EXPECT_EQ(none.error().code, Code::invalid);
    EXPECT_NE(none.error().message.find("only for deb amd64, rpm amd64:"), std::string::npos);
    EXPECT_EQ(enroot_packages(releases, {Family::deb, Architecture::amd64}).value(),
              (std::vector<PinnedFile>{{"a", "b", "c"}}));
}

}  // namespace
}  // namespace llmgw
