#include <sys/stat.h>

#include "core/limits.hpp"
#include "unit/http/certificate.hpp"
#include "unit/service/on_cache.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;
using test::FaultyServer;
using test::Served;
using test::some_bytes;

class MirrorTest : public test::OnCache {
  protected:
    MirrorTest() {
        fs::create_directory(mirror_);
        options_.mirror = mirror_;
    }
    void put(const std::string& name, const std::string& bytes) const {
        std::ofstream(mirror_ + "/" + name, std::ios::binary) << bytes;
    }
    std::string mirror_ = place_.file("mirror");
    PinnedFile file_ =
        pinned("enroot+caps_1_amd64.deb", "right", "https://nowhere.example/enroot%2Bcaps_1_amd64.deb");
};

TEST_F(MirrorTest, LinksAreNotFollowed) {
    std::ofstream(place_.file("secret")) << "right";
    fs::create_symlink(place_.file("secret"), mirror_ + "/" + file_.name);
    expect_says(refusal({file_}), Code::denied,
                mirror_ + "/" + file_.name + " is a symbolic link: put the file");
    EXPECT_TRUE(names().empty());
}

TEST_F(MirrorTest, WhatIsNoFileIsRefused) {
    expect_says(refusal({file_}), Code::missing, "cannot open " + mirror_ + "/" + file_.name);
    ASSERT_EQ(::mkfifo((mirror_ + "/" + file_.name).c_str(), 0644), 0);
    expect_says(refusal({file_}), Code::invalid, "no plain file");
    fs::remove(mirror_ + "/" + file_.name);
    fs::create_directory(mirror_ + "/" + file_.name);
    expect_says(refusal({file_}), Code::invalid, "no plain file");
    options_.mirror = place_.file("missing");
    expect_says(refusal({file_}), Code::missing, "cannot open the mirror's directory");
    EXPECT_TRUE(names().empty());
}

TEST_F(MirrorTest, FilesThatAreWrongArePutAside) {
    put(file_.name, "wrong");
    const Error error = refusal({file_});
    expect_says(error, Code::invalid,
                file_.name + " from " + mirror_ + "/" + file_.name + " is not the pinned file");
    expect_says(error, Code::invalid, crypto::sha256_hex("wrong").value() + " came, of 5 bytes");
    EXPECT_EQ(names(), std::set<std::string>{file_.name + ".rejected"});
    put(file_.name, "");
    expect_says(refusal({file_}), Code::invalid, "came, of 0 bytes");
}

TEST_F(MirrorTest, FilesThatAreTooLargeAreNotBegun) {
    put(file_.name, "");
    fs::resize_file(mirror_ + "/" + file_.name, limits::download_bytes + 1);
    expect_says(refusal({file_}), Code::too_large, "no more than 536870912 bytes are taken");
    EXPECT_TRUE(names().empty());
}

TEST_F(MirrorTest, CopiesAreWholeAndRight) {
    const std::string bytes = some_bytes(1'000'000);
    const PinnedFile large = pinned("large.tar.gz", bytes);
    put(file_.name, "right");
    put(large.name, bytes);
    // A part of an earlier try from elsewhere doesn't get into it.
    fs::create_directory(options_.cache);
    std::ofstream(options_.cache + "/large.tar.gz.part") << "x";
    expect_came(fetch({file_, large}));
    EXPECT_EQ(names(), (std::set<std::string>{file_.name, large.name}));
    EXPECT_EQ(content(large.name), bytes);
    struct stat status {};
    ASSERT_EQ(::stat(cached_path(options_, large).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0644U);
}

TEST_F(MirrorTest, CanBeAFileUrlOrALinkToADirectory) {
    put(file_.name, "right");
    options_.mirror = "file://" + mirror_;
    expect_came(fetch({file_}));
    fs::remove_all(options_.cache);
    fs::create_directory_symlink(mirror_, place_.file("link"));
    options_.mirror = place_.file("link") + "/";
    expect_came(fetch({file_}));
}

TEST_F(MirrorTest, OnAServerHasFilesByEscapedName) {
    FaultyServer server(Served{"right", "\"1\"", ""});
    for (const std::string base : {"/a/b", "/a/b/"}) {
        options_.mirror = server.url(base);
        expect_came(fetch({file_}));
        EXPECT_TRUE(server.heads().back().starts_with("GET /a/b/enroot%2Bcaps_1_amd64.deb HTTP/1.1\r\n"));
        fs::remove_all(options_.cache);
    }
    EXPECT_EQ(server.heads().size(), 2U);
}

TEST_F(MirrorTest, OnAServerIsVerified) {
    const test::Certificate certificate;
    test::TlsFiles files;
    files.bytes = "right";
    const http::Server server = certificate.started(files);
    options_.mirror = test::Certificate::url(server, "/mirror");
    expect_says(refusal({file_}), Code::denied, options_.mirror + "/enroot%2Bcaps_1_amd64.deb");
    options_.ca_file = certificate.file();
    expect_came(fetch({file_}));
    EXPECT_EQ(content(file_.name), "right");
}

TEST_F(MirrorTest, CopyingIsStoppedAndLeavesNothing) {
    put(file_.name, "right");
    std::stop_source stop;
    stop.request_stop();
    expect_says(fetch({file_}, stop.get_token()).error(), Code::unavailable, "stopping");
    EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace llmgw::service
