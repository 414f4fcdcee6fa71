#include "http/client.hpp"

#include <future>

#include "http/url.hpp"
#include "unit/http/support.hpp"

namespace llmgw::http {
namespace {

using std::chrono::milliseconds;
using test::LyingServer;

Request get(const std::string& url) {
    Request request;
    request.url = url;
    request.total_timeout = milliseconds(5000);
    return request;
}

TEST(Client, RefusesPlainHttpToElsewhere) {
    for (const std::string url : {"http://leader.example:8470/", "http://192.0.2.1/", "http://0127.0.0.1/"}) {
        const Result<Response> answer = fetch(get(url));
        ASSERT_FALSE(answer.ok());
        EXPECT_EQ(answer.error().code, Code::invalid);
        EXPECT_NE(answer.error().message.find("use an https:// URL"), std::string::npos)
            << answer.error().message;
    }
}

TEST(Client, RefusesWhatWouldSplitARequest) {
    LyingServer never([](int) { ADD_FAILURE() << "something was sent"; });
    Request request = get(never.url());
    request.headers = {{"X", "a\r\nY: b"}};
    EXPECT_EQ(fetch(request).error().code, Code::invalid);
    request = get(never.url());
    request.headers = {{"X:", "a"}};
    EXPECT_EQ(fetch(request).error().code, Code::invalid);
    request = get(never.url());
    request.method = "GET / HTTP/1.1\r\nX:";
    EXPECT_EQ(fetch(request).error().code, Code::invalid);
    request = get(never.url());
    request.bearer = "se\ncret";
    EXPECT_EQ(fetch(request).error().code, Code::invalid);
    // Lets the server's thread end.
    EXPECT_TRUE(test::RawClient(parse_url(never.url()).value().port).connected());
}

TEST(Client, ReadsTheServersTime) {
    EXPECT_EQ(date_of({{"date", "Mon, 30 Nov 2026 23:14:55 GMT"}}), 1796080495);
    EXPECT_EQ(date_of({{"Date", "soon"}}), std::nullopt);
    EXPECT_EQ(date_of({}), std::nullopt);
}

TEST(Client, KeepsTheTokenOutOfErrors) {
    LyingServer server([](int fd) { LyingServer::say(fd, "nonsense\r\n\r\n"); });
    Request request = get(server.url("/slurm/v1/settings?wait=1"));
    request.bearer = "0123456789abcdef";
    const Result<Response> answer = fetch(request);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().message.find("0123456789abcdef"), std::string::npos);
    EXPECT_NE(answer.error().message.find("/slurm/v1/settings: "), std::string::npos)
        << answer.error().message;
    EXPECT_NE(server.head().find("\r\nAuthorization: Bearer 0123456789abcdef\r\n"), std::string::npos);
}

TEST(Client, FollowsNoRedirect) {
    LyingServer elsewhere([](int) { ADD_FAILURE() << "it was followed"; });
    LyingServer server([&](int fd) {
        LyingServer::say(
            fd, "HTTP/1.1 302 Found\r\nLocation: " + elsewhere.url() + "\r\nContent-Length: 0\r\n\r\n");
    });
    const Result<Response> answer = fetch(get(server.url()));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer.value().status, 302);
    EXPECT_TRUE(test::RawClient(parse_url(elsewhere.url()).value().port).connected());
}

TEST(Client, TakesABodyUpToItsCapAndNoByteMore) {
    for (const std::size_t size : {1000U, 1001U}) {
        for (const bool announced : {true, false}) {
            LyingServer server([&](int fd) {
                const std::string length =
                    announced ? "Content-Length: " + std::to_string(size) + "\r\n" : "";
                LyingServer::say(fd, "HTTP/1.1 200 OK\r\n" + length + "\r\n" + std::string(size, 'x'));
            });
            Request request = get(server.url());
            request.max_bytes = 1000;
            const Result<Response> answer = fetch(request);
            ASSERT_EQ(answer.ok(), size == 1000);
            if (!answer) {
                EXPECT_EQ(answer.error().code, Code::too_large);
            }
        }
    }
}

TEST(Client, GivesUpOnHeadersWithoutEnd) {
    LyingServer server([](int fd) {
        std::string line = "HTTP/1.1 200 OK\r\n";
        while (LyingServer::say(fd, line)) line = "X-More: " + std::string(500, 'x') + "\r\n";
    });
    EXPECT_EQ(fetch(get(server.url())).error().code, Code::too_large);
}

TEST(Client, GivesUpOnInterimAnswersWithoutEnd) {
    LyingServer server([](int fd) {
        while (LyingServer::say(fd, "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n")) continue;
    });
    EXPECT_EQ(fetch(get(server.url())).error().code, Code::too_large);
}

TEST(Client, TakesAStatusWithoutABody) {
    LyingServer server(
        [](int fd) { LyingServer::say(fd, "HTTP/1.1 204 No Content\r\nETag: \"7\"\r\n\r\n"); });
    const Result<Response> answer = fetch(get(server.url()));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer.value().status, 204);
    EXPECT_EQ(header(answer.value().headers, "etag"), "\"7\"");
    EXPECT_EQ(header(answer.value().headers, "eta"), "");
}

TEST(Client, TakesNoHalfAnswerForAWholeOne) {
    for (const std::string text :
         {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "", "HTTP/1.1 200",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", "only a body"}) {
        LyingServer server([&](int fd) { LyingServer::say(fd, text); });
        EXPECT_FALSE(fetch(get(server.url())).ok()) << text;
    }
}

TEST(Client, TimesOutOnSilence) {
    std::promise<void> over;
    LyingServer server([&](int) { over.get_future().wait(); });
    Request request = get(server.url());
    request.total_timeout = milliseconds(100);
    EXPECT_EQ(fetch(request).error().code, Code::timeout);
    over.set_value();
}

TEST(Client, EndsAtOnceWhenAskedToFromAnotherThread) {
    std::promise<void> asked;
    std::promise<void> over;
    LyingServer server([&](int) {
        asked.set_value();
        over.get_future().wait();
    });
    std::stop_source stop;
    std::thread stopper([&] {
        asked.get_future().wait();
        stop.request_stop();
    });
    Request request = get(server.url());
    request.total_timeout = milliseconds(60'000);
    const auto start = std::chrono::steady_clock::now();
    const Result<Response> answer = fetch(request, stop.get_token());
    stopper.join();
    over.set_value();
    EXPECT_EQ(answer.error().code, Code::unavailable);
    EXPECT_NE(answer.error().message.find("stopping"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(fetch(request, stop.get_token()).error().code, Code::unavailable);
}

TEST(Client, SaysThatNobodyListens) {
    Result<Descriptor> taken = listen_on("127.0.0.1", 0);
    const std::uint16_t port = port_of(taken.value()).value();
    taken.value().reset();
    EXPECT_EQ(fetch(get("http://127.0.0.1:" + std::to_string(port) + "/")).error().code, Code::unavailable);
}

TEST(Client, LooksAtNoProxyOfTheEnvironment) {
    LyingServer server([](int fd) { LyingServer::say(fd, "HTTP/1.1 204 No Content\r\n\r\n"); });
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    const Result<Response> answer = fetch(get(server.url()));
    ::unsetenv("http_proxy");
    EXPECT_TRUE(answer.ok());
}

TEST(Client, SaysNothingOfTheTypeOfNoBody) {
    LyingServer server([](int fd) { LyingServer::say(fd, "HTTP/1.1 204 No Content\r\n\r\n"); });
    Request request = get(server.url());
    request.method = "PUT";
    ASSERT_TRUE(fetch(request).ok());
    EXPECT_NE(server.head().find("\r\nContent-Length: 0\r\n"), std::string::npos) << server.head();
    EXPECT_EQ(server.head().find("Content-Type"), std::string::npos) << server.head();
}

TEST(Client, SendsMethodBodyAndType) {
    LyingServer server([](int fd) { LyingServer::say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); });
    Request request = get(server.url("/a/../b"));
    request.method = "PATCH";
    request.body = "{}";
    request.headers = {{"If-Match", "\"3\""}, {"X-Empty", ""}};
    ASSERT_TRUE(fetch(request).ok());
    EXPECT_TRUE(server.head().starts_with("PATCH /a/../b HTTP/1.1\r\n")) << server.head();
    EXPECT_NE(server.head().find("\r\nContent-Type: application/json\r\n"), std::string::npos);
    EXPECT_NE(server.head().find("\r\nContent-Length: 2\r\n"), std::string::npos);
    EXPECT_NE(server.head().find("\r\nIf-Match: \"3\"\r\n"), std::string::npos);
    EXPECT_NE(server.head().find("\r\nX-Empty:"), std::string::npos);
    EXPECT_EQ(server.head().find("Expect"), std::string::npos);
}

}  // namespace
}  // namespace llmgw::http
