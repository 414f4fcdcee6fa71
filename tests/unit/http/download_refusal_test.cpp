// Downloads that come to nothing: what they say, and what they leave behind.
#include <sys/mount.h>

#include <future>

#include "http/download.hpp"
#include "unit/http/on_server.hpp"

namespace llmgw::http {
namespace {

using std::chrono::milliseconds;
using test::FaultyServer;
using test::Served;
using test::some_bytes;

constexpr std::size_t size = 100'000;

class RefusedDownload : public test::OnServer {
  protected:
    static Error refusal(const Download& what) {
        const Result<Downloaded> downloaded = download(what);
        if (!downloaded.ok()) return downloaded.error();
        ADD_FAILURE() << "came";
        return {};
    }
    static void expect_says(const Error& error, Code code, const std::string& text) {
        EXPECT_EQ(error.code, code) << error.message;
        EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
    }
    // The same answer to each request.
    static FaultyServer::Act always(const std::string& answer) {
        return [answer](int fd, const std::string&, std::size_t) { FaultyServer::say(fd, answer); };
    }
};

TEST_F(RefusedDownload, SaysWhereItComesFromWithoutItsQuery) {
    FaultyServer server(always("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    const Error error = refusal(from(server.url("/f.deb?token=secret")));
    EXPECT_EQ(error, (Error{Code::missing, "GET " + server.url("/f.deb") +
                                               ": the server answers 404 Not Found: it isn't there"}));
}

TEST_F(RefusedDownload, AsksOnceWhereAskingAgainIsOfNoUse) {
    for (const auto& [status, code] :
         std::initializer_list<std::pair<std::string, Code>>{{"404 Not Found", Code::missing},
                                                             {"410 Gone", Code::missing},
                                                             {"401 Unauthorized", Code::denied},
                                                             {"403 Forbidden", Code::denied},
                                                             {"400 Bad Request", Code::unavailable},
                                                             {"416 Range Not Satisfiable", Code::unavailable},
                                                             {"204 No Content", Code::unavailable},
                                                             {"206 Partial Content", Code::unavailable},
                                                             {"300 Multiple Choices", Code::unavailable},
                                                             {"304 Not Modified", Code::unavailable},
                                                             {"501 Not Implemented", Code::unavailable}}) {
        FaultyServer server(always("HTTP/1.1 " + status + "\r\nContent-Length: 6\r\n\r\n<html>"));
        expect_says(refusal(from(server.url())), code, status.substr(0, 3));
        EXPECT_EQ(server.heads().size(), 1U) << status;
        EXPECT_EQ(content(), "") << "a page for people is no file";
    }
}

TEST_F(RefusedDownload, FollowsNoRedirectToElsewhere) {
    FaultyServer elsewhere([](int, const std::string&, std::size_t) { ADD_FAILURE() << "it was followed"; });
    for (const std::string& target :
         {elsewhere.url(), std::string("https://127.0.0.1:1/"), std::string("http://example.com/"),
          std::string("file:///etc/passwd"), std::string("http://u:p@127.0.0.1/")}) {
        FaultyServer server(
            always("HTTP/1.1 302 Found\r\nLocation: " + target + "\r\nContent-Length: 0\r\n\r\n"));
        expect_says(refusal(from(server.url())), Code::invalid, "redirected");
        EXPECT_EQ(server.heads().size(), 1U);
    }
    FaultyServer nowhere(always("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"));
    expect_says(refusal(from(nowhere.url())), Code::invalid, "redirected to nowhere");
}

TEST_F(RefusedDownload, EndsInACircle) {
    FaultyServer server(always("HTTP/1.1 301 Moved\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"));
    expect_says(refusal(from(server.url())), Code::unavailable, "redirected more than 5 times");
    EXPECT_EQ(server.heads().size(), 6U);
}

TEST_F(RefusedDownload, GoesNowhereByPlainHttp) {
    expect_says(refusal(from("http://mirror.example/f")), Code::invalid, "use an https:// URL");
    expect_says(refusal(from("file:///etc/passwd")), Code::invalid, "must begin with");
    EXPECT_FALSE(there("f"));
}

TEST_F(RefusedDownload, GivesUpWhenTheServerWantsToBeLeftAlone) {
    FaultyServer server(
        always("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"));
    expect_says(refusal(from(server.url())), Code::unavailable,
                "429 Too Many Requests, and asks to be left alone for 3600 s");
    EXPECT_EQ(server.heads().size(), 1U);
    // Also when it is only longer than the time that is left.
    FaultyServer busy(always("HTTP/1.1 503 Busy\r\nRetry-After: 200\r\nContent-Length: 0\r\n\r\n"));
    Download what = from(busy.url());
    what.deadline = std::chrono::seconds(100);
    expect_says(refusal(what), Code::unavailable, "left alone for 200 s");
}

TEST_F(RefusedDownload, GivesUpWhenNothingNewComes) {
    FaultyServer down([](int, const std::string&, std::size_t) {});
    Download what = from(down.url());
    what.patience = milliseconds(30);
    expect_says(refusal(what), Code::unavailable, "nothing new came for");
    EXPECT_GE(down.heads().size(), 1U);

    // Neither when the server begins again each time, nor when it always promises more than it sends.
    for (const bool ranges : {true, false}) {
        const std::string bytes = some_bytes(size);
        FaultyServer lying([&](int fd, const std::string& head, std::size_t index) {
            if (ranges && index > 0)
                return void(
                    FaultyServer::say(fd,
                                      "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-99/100\r\n"
                                      "Content-Length: 95\r\n\r\n"));
            FaultyServer::serve(fd, head, {bytes.substr(0, 100), "\"1\"", "", 5, false});
        });
        what = from(lying.url());
        what.patience = milliseconds(30);
        expect_says(refusal(what), Code::unavailable, "after 5 bytes");
        EXPECT_EQ(content(), bytes.substr(0, 5)) << "can still be gone on with";
        PartFile::remove(directory_.get(), "f");
    }
}

TEST_F(RefusedDownload, ThatNeverFitsTogetherEnds) {
    std::atomic<int> version{0};
    FaultyServer changing([&](int fd, const std::string& head, std::size_t) {
        const std::string etag = "\"" + std::to_string(++version) + "\"";
        FaultyServer::serve(fd, head, {some_bytes(size), etag, "", 10'000, true, false});
    });
    Download what = from(changing.url());
    what.patience = milliseconds(30);
    expect_says(refusal(what), Code::unavailable, "nothing new came");
    // Length and chunks at once: only one of them can be right.
    FaultyServer both(
        always("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
               "8\r\nabcdefgh\r\n0\r\n\r\n"));
    what = from(both.url());
    what.patience = milliseconds(30);
    EXPECT_NE(refusal(what).message, "");
}

TEST_F(RefusedDownload, IsOverAtItsDeadline) {
    FaultyServer silent([](int fd, const std::string&, std::size_t) { FaultyServer::wait_for_end(fd); });
    Download what = from(silent.url());
    what.deadline = milliseconds(100);
    expect_says(refusal(what), Code::timeout, "isn't there after 0 s");
    FaultyServer down([](int, const std::string&, std::size_t) {});
    what = from(down.url());
    what.deadline = milliseconds(100);
    expect_says(refusal(what), Code::timeout, "isn't there after");
}

TEST_F(RefusedDownload, TakesNoByteMoreThanItMay) {
    for (const std::size_t bytes : {1000U, 1001U}) {
        for (const bool announced : {true, false}) {
            FaultyServer server(
                always("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n" +
                       (announced ? "Content-Length: " + std::to_string(bytes) + "\r\n" : "") + "\r\n" +
                       std::string(bytes, 'x')));
            Download what = from(server.url());
            what.max_bytes = 1000;
            const Result<Downloaded> downloaded = download(what);
            ASSERT_EQ(downloaded.ok(), bytes == 1000);
            if (!downloaded) {
                expect_says(downloaded.error(), Code::too_large,
                            announced ? "it has 1001 bytes" : "more than 1000");
                EXPECT_FALSE(there());
                EXPECT_FALSE(there("f.part.from"));
            }
            PartFile::remove(directory_.get(), "f");
        }
    }
    FaultyServer endless([](int fd, const std::string&, std::size_t) {
        std::string line = "HTTP/1.1 200 OK\r\n";
        while (FaultyServer::say(fd, line)) line = "X-More: " + std::string(500, 'x') + "\r\n";
    });
    expect_says(refusal(from(endless.url())), Code::too_large, "headers");
}

TEST_F(RefusedDownload, WritesNothingWhereThereIsNoRoom) {
    FaultyServer server(Served{some_bytes(size), "\"1\"", ""});
    Download what = from(server.url());
    what.admit = [](std::optional<std::uint64_t> missing) -> Result<void> {
        return Error{Code::internal, "no room for " + std::to_string(missing.value_or(0))};
    };
    expect_says(refusal(what), Code::internal, "no room for 100000");
    EXPECT_EQ(content(), "");
    // Of a part only the rest is needed.
    leave(server.url(), some_bytes(size).substr(0, 40'000), {"\"1\"", ""}, size);
    expect_says(refusal(what), Code::internal, "no room for 60000");
    EXPECT_EQ(content().size(), 40'000U);
}

TEST_F(RefusedDownload, GivesBackWhatItTookOfAFullFileSystem) {
    const std::string small = place_.file("small");
    std::filesystem::create_directory(small);
    if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "only root can mount";
    const Descriptor directory(::open(small.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    FaultyServer server(Served{some_bytes(size), "\"1\"", ""});
    Download what = from(server.url());
    what.directory = directory.get();
    expect_says(refusal(what), Code::internal, "No space left on device");
    EXPECT_TRUE(std::filesystem::is_empty(small));
    EXPECT_EQ(::umount2(small.c_str(), MNT_DETACH), 0);
}

TEST_F(RefusedDownload, StopsAtOnceAndIsResumedLater) {
    const std::string bytes = some_bytes(size);
    std::promise<void> half;
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        FaultyServer::serve(fd, head, {bytes, "\"1\"", "", index == 0 ? 40'000 : std::string::npos});
        if (index == 0) FaultyServer::wait_for_end(fd);
    });
    std::stop_source stop;
    Download what = from(server.url());
    what.progress = [&](std::uint64_t done, std::uint64_t) {
        if (done == 40'000) half.set_value();
    };
    auto running = std::async(std::launch::async, [&] { return download(what, stop.get_token()); });
    half.get_future().wait();
    stop.request_stop();
    const Result<Downloaded> stopped = running.get();
    ASSERT_FALSE(stopped.ok());
    expect_says(stopped.error(), Code::unavailable, "stopping");
    EXPECT_EQ(content(), bytes.substr(0, 40'000));
    expect_says(download(what, stop.get_token()).error(), Code::unavailable, "stopping");
    what.progress = nullptr;
    ASSERT_TRUE(download(what).ok());
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(FaultyServer::field(server.heads().at(1), "Range"), "bytes=40000-");
}

TEST_F(RefusedDownload, StopsAtOnceWhileItWaitsToTryAgain) {
    FaultyServer down([](int, const std::string&, std::size_t) {});
    Download what = from(down.url());
    what.first_pause = what.longest_pause = std::chrono::hours(1);
    what.patience = what.deadline = std::chrono::hours(10);
    std::stop_source stop;
    auto running = std::async(std::launch::async, [&] { return download(what, stop.get_token()); });
    ASSERT_TRUE(test::eventually([&] { return !down.heads().empty(); }));
    stop.request_stop();
    expect_says(running.get().error(), Code::unavailable, "stopping");
}

}  // namespace
}  // namespace llmgw::http
