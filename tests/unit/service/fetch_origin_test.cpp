#include "service/fetch_origin.hpp"

#include <gtest/gtest.h>

namespace llmgw::service {
namespace {

const PinnedFile caps{"enroot+caps_1_amd64.deb", "https://h/releases/enroot%2Bcaps_1_amd64.deb?token=secret",
                      std::string(64, 'a')};

TEST(FetchOrigin, RefusesWhatIsNoMirror) {
    for (const char* mirror : {"srv/mirror", "mirror.example", "ftp://h/", "http://mirror.example/",
                               "https://h/?f=", "https://u:p@h/", "file://", "file://h/srv", "file://srv",
                               "file:///a%", "file:///a%00", "/srv\n/mirror", "HTTPS://h/"}) {
        const Result<FetchOrigin> origin = origin_of(caps, mirror);
        ASSERT_FALSE(origin.ok()) << mirror;
        EXPECT_EQ(origin.error().code, Code::invalid);
        EXPECT_NE(origin.error().message.find("the mirror"), std::string::npos) << origin.error().message;
    }
}

TEST(FetchOrigin, RefusesPinsThatAreNone) {
    for (const PinnedFile& file :
         {PinnedFile{"../x", caps.url, caps.sha256}, PinnedFile{caps.name, caps.url, "abc"},
          PinnedFile{caps.name, "http://h/x", caps.sha256}, PinnedFile{caps.name, "/etc/passwd", caps.sha256},
          PinnedFile{caps.name, "file:///etc/passwd", caps.sha256}}) {
        EXPECT_EQ(origin_of(file, "").error().code, Code::invalid);
    }
}

TEST(FetchOrigin, IsTheFilesOwnOrTheMirror) {
    EXPECT_EQ(origin_of(caps, "").value(), (FetchOrigin{false, caps.url}));
    EXPECT_EQ(origin_of(caps, "https://m/a").value(),
              (FetchOrigin{false, "https://m/a/enroot%2Bcaps_1_amd64.deb"}));
    EXPECT_EQ(origin_of(caps, "https://m/a/").value(), origin_of(caps, "https://m/a").value());
    EXPECT_EQ(origin_of(caps, "http://127.0.0.1:8000").value(),
              (FetchOrigin{false, "http://127.0.0.1:8000/enroot%2Bcaps_1_amd64.deb"}));
    EXPECT_EQ(origin_of(caps, "/srv/mirror").value(), (FetchOrigin{true, "/srv/mirror"}));
    EXPECT_EQ(origin_of(caps, "file:///srv/a%20b").value(), (FetchOrigin{true, "/srv/a b"}));
    EXPECT_EQ(origin_of(caps, "file://localhost/srv").value(), (FetchOrigin{true, "/srv"}));
}

TEST(FetchOrigin, IsToldWithoutSecrets) {
    EXPECT_EQ(origin_of(caps, "").value().text(caps), "https://h/releases/enroot%2Bcaps_1_amd64.deb");
    EXPECT_EQ(origin_of(caps, "/srv/mirror/").value().text(caps), "/srv/mirror/enroot+caps_1_amd64.deb");
}

}  // namespace
}  // namespace llmgw::service
