#include "http/download.hpp"

#include "unit/http/on_server.hpp"

namespace llmgw::http {
namespace {

using test::FaultyServer;
using test::Served;
using test::some_bytes;
using DownloadTest = test::OnServer;

constexpr std::size_t size = 100'000;

void expect_came(const Result<Downloaded>& downloaded, std::size_t bytes = size) {
    ASSERT_TRUE(downloaded.ok()) << downloaded.error().message;
    EXPECT_EQ(downloaded.value().size, bytes);
}

TEST_F(DownloadTest, ComesWhole) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes, "\"1\"", ""});
    Download what = from(server.url("/a%2Bb.deb?x=1"));
    std::optional<std::uint64_t> missing;
    what.admit = [&](std::optional<std::uint64_t> more) {
        missing = more;
        return Result<void>();
    };
    std::pair<std::uint64_t, std::uint64_t> last;
    what.progress = [&](std::uint64_t done, std::uint64_t total) { last = {done, total}; };
    EXPECT_EQ(download(what).value(), (Downloaded{size, true}));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(missing, size);
    EXPECT_EQ(last, (std::pair<std::uint64_t, std::uint64_t>{size, size}));
    ASSERT_EQ(server.heads().size(), 1U);
    EXPECT_TRUE(server.heads()[0].starts_with("GET /a%2Bb.deb?x=1 HTTP/1.1\r\n")) << server.heads()[0];
    EXPECT_EQ(FaultyServer::field(server.heads()[0], "Range"), "");
    // What is whole isn't asked for again.
    expect_came(download(what));
    EXPECT_EQ(server.heads().size(), 1U);
}

TEST_F(DownloadTest, IsResumedEachTimeTheConnectionIsCut) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes, "\"1\"", "", 30'000});
    const Result<Downloaded> downloaded = download(from(server.url()));
    expect_came(downloaded);
    EXPECT_FALSE(downloaded.value().in_one_piece);
    EXPECT_EQ(content(), bytes);
    ASSERT_EQ(server.heads().size(), 4U);
    EXPECT_EQ(FaultyServer::field(server.heads()[3], "Range"), "bytes=90000-");
    EXPECT_EQ(FaultyServer::field(server.heads()[3], "If-Range"), "\"1\"");
}

TEST_F(DownloadTest, IsResumedWhereAnEarlierCallStopped) {
    const std::string bytes = some_bytes(size);
    for (const Validator& validator :
         {Validator{"\"1\"", ""}, Validator{"", "Mon, 01 Jan 2024 00:00:00 GMT"}}) {
        FaultyServer server(Served{bytes, validator.etag, validator.last_modified});
        leave(server.url(), bytes.substr(0, 40'000), validator, size);
        expect_came(download(from(server.url())));
        EXPECT_EQ(content(), bytes);
        EXPECT_EQ(FaultyServer::field(server.heads().at(0), "Range"), "bytes=40000-");
        EXPECT_EQ(FaultyServer::field(server.heads().at(0), "If-Range"), validator.condition());
    }
}

TEST_F(DownloadTest, BeginsAgainWhereTheServerIgnoresRanges) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        FaultyServer::serve(fd, head, {bytes, "\"1\"", "", index < 3 ? 30'000 : std::string::npos, false});
    });
    const Result<Downloaded> downloaded = download(from(server.url()));
    expect_came(downloaded);
    EXPECT_TRUE(downloaded.value().in_one_piece);
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(server.heads().size(), 4U);
}

TEST_F(DownloadTest, BeginsAgainWhenTheFileHasChangedMeanwhile) {
    const std::string before = some_bytes(size, 1);
    const std::string after = some_bytes(size + 10, 2);
    for (const bool conditions : {true, false}) {
        FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
            FaultyServer::serve(fd, head,
                                index == 0 ? Served{before, "\"1\"", "", 30'000}
                                           : Served{after, "\"2\"", "", 60'000, true, conditions});
        });
        PartFile::remove(directory_.get(), "f");
        expect_came(download(from(server.url())), size + 10);
        EXPECT_EQ(content(), after);
    }
}

TEST_F(DownloadTest, SeesByTheSizeThatAFileWithoutVersionsHasChanged) {
    const std::string after = some_bytes(size + 10, 2);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        FaultyServer::serve(fd, head,
                            index == 0 ? Served{some_bytes(size, 1), "", "", 30'000} : Served{after, "", ""});
    });
    expect_came(download(from(server.url())), size + 10);
    EXPECT_EQ(content(), after);
    EXPECT_EQ(FaultyServer::field(server.heads().at(1), "If-Range"), "");
}

TEST_F(DownloadTest, TakesNoOtherPartThanItAskedFor) {
    const std::string bytes = some_bytes(size);
    for (const std::string range :
         {"Content-Range: bytes 0-99999/100000\r\n", "Content-Range: bytes 30001-99999/100000\r\n",
          "Content-Range: bytes 30000-10/100000\r\n", "Content-Range: nonsense\r\n", ""}) {
        FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
            if (index != 1)
                return FaultyServer::serve(fd, head,
                                           {bytes, "\"1\"", "", index == 0 ? 30'000 : std::string::npos});
            FaultyServer::say(fd, "HTTP/1.1 206 Partial Content\r\n" + range +
                                      "Content-Length: 70000\r\n\r\n" + std::string(70'000, 'x'));
        });
        PartFile::remove(directory_.get(), "f");
        expect_came(download(from(server.url())));
        EXPECT_EQ(content(), bytes) << range;
    }
}

TEST_F(DownloadTest, TakesNoMoreThanTheRangeHas) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        if (index != 1)
            return FaultyServer::serve(fd, head,
                                       {bytes, "\"1\"", "", index == 0 ? 30'000 : std::string::npos});
        FaultyServer::say(fd,
                          "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 30000-30009/100000\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n14\r\n01234567890123456789\r\n0\r\n\r\n");
    });
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
}

TEST_F(DownloadTest, AsksForTheRestWhereARangeIsShorterThanAskedFor) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        if (index != 1)
            return FaultyServer::serve(fd, head,
                                       {bytes, "\"1\"", "", index == 0 ? 30'000 : std::string::npos});
        FaultyServer::say(fd,
                          "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 30000-30009/100000\r\n"
                          "Content-Length: 10\r\n\r\n" +
                              bytes.substr(30'000, 10));
    });
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(FaultyServer::field(server.heads().at(2), "Range"), "bytes=30010-");
}

TEST_F(DownloadTest, KnowsFromA416ThatItHasEverything) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes, "\"1\"", ""});
    leave(server.url(), bytes, {"\"1\"", ""}, 0);
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
    ASSERT_EQ(server.heads().size(), 1U);
}

TEST_F(DownloadTest, BeginsAgainAfterA416ForMoreThanThereIs) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes, "\"1\"", ""});
    leave(server.url(), bytes + "xx", {"\"1\"", ""}, 0);
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(server.heads().size(), 2U);
}

TEST_F(DownloadTest, DoesNotGoOnWithThePartOfAnotherFile) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes, "\"1\"", ""});
    leave(server.url("/other"), std::string(40'000, 'x'), {"\"1\"", ""}, size);
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(FaultyServer::field(server.heads().at(0), "Range"), "");
}

TEST_F(DownloadTest, ComesAgainWhenTheServerSaysLater) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        constexpr const char* answers[] = {
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nwait",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 408 Request Timeout\r\nRetry-After: nonsense\r\nContent-Length: 0\r\n\r\n"};
        if (index < 3) {
            FaultyServer::say(fd, answers[index]);
        } else {
            FaultyServer::serve(fd, head, {bytes, "\"1\"", ""});
        }
    });
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(server.heads().size(), 4U);
}

TEST_F(DownloadTest, KeepsWhatItHasWhileTheServerIsDown) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        if (index == 1) return;  // not one byte
        if (index == 2)
            return void(FaultyServer::say(fd, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"));
        if (index == 3) return void(FaultyServer::say(fd, "HTTP/1.1 206 Partial"));
        FaultyServer::serve(fd, head, {bytes, "\"1\"", "", 50'000});
    });
    expect_came(download(from(server.url())));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(FaultyServer::field(server.heads().at(4), "Range"), "bytes=50000-");
    EXPECT_EQ(server.heads().size(), 5U);
}

TEST_F(DownloadTest, CutsAConnectionThatHangsAndGoesOnInAnother) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        if (index == 2) return FaultyServer::serve(fd, head, {bytes, "\"1\"", ""});
        FaultyServer::say(fd, "HTTP/1.1 200 OK\r\n");
        if (index == 1) FaultyServer::serve(fd, head, {bytes, "\"1\"", "", 10'000});
        FaultyServer::wait_for_end(fd);
    });
    Download what = from(server.url());
    what.slow_for = std::chrono::seconds(1);
    expect_came(download(what));
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(server.heads().size(), 3U);
}

TEST_F(DownloadTest, TakesAnEmptyFileAndOneWithoutALength) {
    FaultyServer empty([](int fd, const std::string&, std::size_t) {
        FaultyServer::say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    EXPECT_EQ(download(from(empty.url())).value(), (Downloaded{0, true}));
    EXPECT_TRUE(there());
    FaultyServer chunked([](int fd, const std::string&, std::size_t) {
        FaultyServer::say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    });
    EXPECT_EQ(download(from(chunked.url())).value(), (Downloaded{3, true}));
    // An end that nobody announced may be a cut.
    FaultyServer closing([](int fd, const std::string&, std::size_t) {
        FaultyServer::say(fd, "HTTP/1.1 200 OK\r\n\r\nabcd");
    });
    EXPECT_EQ(download(from(closing.url())).value(), (Downloaded{4, false}));
    EXPECT_EQ(content(), "abcd");
}

TEST_F(DownloadTest, FollowsRedirectsToTheSamePlace) {
    const std::string bytes = some_bytes(size);
    FaultyServer* self = nullptr;
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        const std::string absolute = self->url("/2");
        const std::string targets[] = {absolute, "/3", "4?signature=a",
                                       "//127.0.0.1:" + std::to_string(self->port()) + "/5", "/6#part"};
        if (index < 5) {
            FaultyServer::say(
                fd, "HTTP/1.1 302 Found\r\nLocation: " + targets[index] + "\r\nContent-Length: 3\r\n\r\n<p>");
        } else {
            FaultyServer::serve(fd, head, {bytes, "\"1\"", ""});
        }
    });
    self = &server;
    expect_came(download(from(server.url("/1"))));
    EXPECT_EQ(content(), bytes);
    ASSERT_EQ(server.heads().size(), 6U);
    EXPECT_TRUE(server.heads()[3].starts_with("GET /4?signature=a HTTP/1.1\r\n"));
    EXPECT_TRUE(server.heads()[5].starts_with("GET /6 HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace llmgw::http
