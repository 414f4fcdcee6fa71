#include "service/fetcher.hpp"

#include <sys/mount.h>

#include <barrier>
#include <future>

#include "core/limits.hpp"
#include "unit/service/on_cache.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;
using test::FaultyServer;
using test::Served;
using test::some_bytes;
using FetcherTest = test::OnCache;

constexpr std::size_t size = 100'000;

TEST_F(FetcherTest, KeepsWhatCameWithAnotherDigestAsideAndDoesNotUseIt) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes + "x", "\"1\"", ""});
    const PinnedFile file = pinned("f.deb", bytes, server.url("/f.deb?token=secret"));
    const Error error = refusal({file});
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_EQ(error.message, "f.deb from " + server.url("/f.deb") + " is not the pinned file: SHA-256 " +
                                 file.sha256 + " was expected, and " +
                                 crypto::sha256_hex(bytes + "x").value() +
                                 " came, of 100001 bytes; it is kept "
                                 "as " +
                                 options_.cache +
                                 "/f.deb.rejected and not used: look at it, and correct the mirror, or the "
                                 "digest in releases.json");
    EXPECT_EQ(names(), std::set<std::string>{"f.deb.rejected"});
    EXPECT_EQ(content("f.deb.rejected"), bytes + "x");
    EXPECT_FALSE(is_cached(options_, file));
    EXPECT_EQ(server.heads().size(), 1U) << "it came in one piece, so asking again is of no use";
    // Nothing of it is gone on with.
    refusal({file});
    EXPECT_EQ(FaultyServer::field(server.heads().at(1), "Range"), "");
}

TEST_F(FetcherTest, ReplacesAFileThatIsNoMoreRight) {
    const std::string bytes = some_bytes(size);
    FaultyServer server(Served{bytes, "\"1\"", ""});
    const PinnedFile file = pinned("f.deb", bytes, server.url());
    expect_came(fetch({file}));
    std::ofstream(cached_path(options_, file), std::ios::app) << "x";
    EXPECT_FALSE(is_cached(options_, file));
    expect_came(fetch({file}));
    EXPECT_EQ(content("f.deb"), bytes);
}

TEST_F(FetcherTest, FetchesOnceMoreWhatWasPutTogetherWrong) {
    const std::string bytes = some_bytes(size);
    // Its ETag says that nothing has changed, and the first half is of another file.
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        FaultyServer::serve(
            fd, head,
            {index == 0 ? some_bytes(size, 7) : bytes, "\"1\"", "", index == 0 ? 50'000 : std::string::npos});
    });
    const PinnedFile file = pinned("f.deb", bytes, server.url());
    expect_came(fetch({file}));
    EXPECT_EQ(content("f.deb"), bytes);
    EXPECT_EQ(names(), std::set<std::string>{"f.deb"});
    ASSERT_EQ(server.heads().size(), 3U);
    EXPECT_EQ(FaultyServer::field(server.heads()[2], "Range"), "");
}

TEST_F(FetcherTest, RejectsInTheEndWhatIsNeverPutTogetherRight) {
    FaultyServer server(Served{some_bytes(size, 2), "\"1\"", "", 60'000});
    const PinnedFile file = pinned("f.deb", some_bytes(size), server.url());
    expect_says(refusal({file}), Code::invalid, "is not the pinned file");
    EXPECT_EQ(server.heads().size(), 4U);
    EXPECT_EQ(names(), std::set<std::string>{"f.deb.rejected"});
}

TEST_F(FetcherTest, RefusesATruncatedFile) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string&, std::size_t) {
        FaultyServer::say(fd, "HTTP/1.1 200 OK\r\n\r\n" + bytes.substr(0, 5'000));
    });
    expect_says(refusal({pinned("f.deb", bytes, server.url())}), Code::invalid, "came, of 5000 bytes");
    EXPECT_EQ(server.heads().size(), 2U) << "an end that nobody announced may be a cut";
}

TEST_F(FetcherTest, LeavesASpoiledCacheAlone) {
    fs::create_directory(options_.cache);
    fs::permissions(options_.cache, fs::perms::all);
    FaultyServer server(
        [](int, const std::string&, std::size_t) { ADD_FAILURE() << "something was fetched"; });
    const PinnedFile file = pinned("f.deb", "", server.url());
    expect_says(refusal({file}), Code::denied, "others than root can write in it");
    EXPECT_TRUE(names().empty());
    EXPECT_FALSE(is_cached(options_, file));
}

TEST_F(FetcherTest, LooksAtEveryPinAndOriginBeforeAnythingIsFetched) {
    FaultyServer server(
        [](int, const std::string&, std::size_t) { ADD_FAILURE() << "something was fetched"; });
    const PinnedFile good = pinned("f.deb", "", server.url());
    expect_says(refusal({good, pinned("../g", "", server.url())}), Code::invalid, "\"../g\" is no name");
    expect_says(refusal({good, {"g", server.url(), "abc"}}), Code::invalid, "no SHA-256");
    expect_says(refusal({good, pinned("f.deb", "other", server.url())}), Code::invalid, "pinned twice");
    expect_says(refusal({good, pinned("g", "", "http://mirror.example/g")}), Code::invalid, "https:// URL");
    options_.mirror = "mirror";
    expect_says(refusal({good}), Code::invalid, "the mirror \"mirror\" can't be used");
    EXPECT_FALSE(fs::exists(options_.cache));
}

TEST_F(FetcherTest, SaysWhichFileIsNotThereAndEndsTheOthers) {
    FaultyServer server([](int fd, const std::string& head, std::size_t) {
        if (head.starts_with("GET /slow")) {
            FaultyServer::say(fd, "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100\r\n\r\nhalf");
            return FaultyServer::wait_for_end(fd);
        }
        FaultyServer::say(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    const Error error =
        refusal({pinned("slow.deb", "slow", server.url("/slow")), pinned("f.deb", "", server.url("/f"))});
    EXPECT_EQ(error, (Error{Code::missing, "f.deb: GET " + server.url("/f") +
                                               ": the server answers 404 Not Found: it isn't there"}));
}

TEST_F(FetcherTest, NeedsRoomAndWritesNothingWithoutIt) {
    fs::create_directory(options_.cache);
    const std::string most = "size=" + std::to_string(limits::download_margin_bytes + 150'000 / 4096 * 4096);
    if (::mount("tmpfs", options_.cache.c_str(), "tmpfs", 0, (most + ",mode=0755").c_str()) != 0)
        GTEST_SKIP() << "only root can mount";
    // Each of them would fit, and both together do not. The one that is second learns it.
    std::barrier both(2);
    FaultyServer server([&](int fd, const std::string& head, std::size_t) {
        both.arrive_and_wait();
        FaultyServer::serve(fd, head, {some_bytes(size), "\"1\"", "", 10});
        FaultyServer::wait_for_end(fd);
    });
    const Error error = refusal(
        {pinned("f.deb", some_bytes(size), server.url()), pinned("g.deb", some_bytes(size), server.url())});
    expect_says(error, Code::internal, "no room in " + options_.cache);
    expect_says(error, Code::internal, "make room");
    EXPECT_EQ(::umount2(options_.cache.c_str(), MNT_DETACH), 0);
}

TEST_F(FetcherTest, BringsSeveralAtOnceUnderTheirNames) {
    // None is answered before four have asked.
    std::barrier four(4);
    FaultyServer server([&](int fd, const std::string& head, std::size_t) {
        four.arrive_and_wait();
        FaultyServer::serve(fd, head, {head.substr(5, 1) + some_bytes(size), "\"1\"", ""});
    });
    std::vector<PinnedFile> files;
    for (const std::string name : {"a", "b", "c", "d", "e", "f", "g", "h"})
        files.push_back(pinned("enroot+" + name + ".deb", name + some_bytes(size), server.url("/" + name)));
    std::pair<std::uint64_t, std::uint64_t> last;
    const auto here = std::this_thread::get_id();
    expect_came(fetch_pinned(files, options_,
                             [&](std::uint64_t done, std::uint64_t total) {
                                 EXPECT_EQ(std::this_thread::get_id(), here);
                                 EXPECT_LE(done, total);
                                 last = {done, total};
                             },
                             {}));
    EXPECT_EQ(last, (std::pair<std::uint64_t, std::uint64_t>{8 * (size + 1), 8 * (size + 1)}));
    for (const PinnedFile& file : files) {
        EXPECT_TRUE(is_cached(options_, file)) << file.name;
        EXPECT_EQ(cached_path(options_, file), options_.cache + "/" + file.name);
    }
    EXPECT_EQ(names().size(), 8U);
    EXPECT_EQ(server.heads().size(), 8U);
}

TEST_F(FetcherTest, WritesNothingWhenEverythingIsThere) {
    FaultyServer server(Served{"abc", "\"1\"", ""});
    const PinnedFile file = pinned("f.deb", "abc", server.url());
    expect_came(fetch({file, file}));
    EXPECT_EQ(server.heads().size(), 1U);
    fs::remove(options_.cache + "/.lock");
    const auto before = fs::last_write_time(options_.cache);
    expect_came(fetch({file}));
    EXPECT_EQ(fs::last_write_time(options_.cache), before);
    EXPECT_EQ(server.heads().size(), 1U);
    expect_came(fetch({}));
}

TEST_F(FetcherTest, GoesOnInALaterCallWhereItWasStopped) {
    const std::string bytes = some_bytes(size);
    FaultyServer server([&](int fd, const std::string& head, std::size_t index) {
        FaultyServer::serve(fd, head, {bytes, "\"1\"", "", index == 0 ? 40'000 : std::string::npos});
        if (index == 0) FaultyServer::wait_for_end(fd);
    });
    const PinnedFile file = pinned("f.deb", bytes, server.url());
    std::stop_source stop;
    auto running = std::async(std::launch::async, [&] { return fetch({file}, stop.get_token()); });
    ASSERT_TRUE(test::eventually([&] { return content("f.deb.part").size() == 40'000; }));
    stop.request_stop();
    expect_says(running.get().error(), Code::unavailable, "stopping");
    expect_came(fetch({file}));
    EXPECT_EQ(content("f.deb"), bytes);
    EXPECT_EQ(FaultyServer::field(server.heads().at(1), "Range"), "bytes=40000-");
}

TEST_F(FetcherTest, WaitsForAnotherProcessThatFetches) {
    FaultyServer server(Served{"abc", "\"1\"", ""});
    const PinnedFile file = pinned("f.deb", "abc", server.url());
    fs::create_directory(options_.cache);
    Result<Descriptor> other = lock_file(options_.cache + "/.lock");
    ASSERT_TRUE(other.ok());
    options_.deadline = std::chrono::seconds(0);
    expect_says(refusal({file}), Code::timeout, "another process");
    options_.deadline = std::chrono::seconds(3600);
    auto waiting = std::async(std::launch::async, [&] { return fetch({file}); });
    EXPECT_TRUE(server.heads().empty());
    // The other one has brought it, so that this one has nothing to do.
    std::ofstream(cached_path(options_, file)) << "abc";
    other.value().reset();
    expect_came(waiting.get());
    EXPECT_TRUE(server.heads().empty());
    EXPECT_TRUE(is_cached(options_, file));
}

TEST_F(FetcherTest, StopsWaitingForAnotherProcess) {
    fs::create_directory(options_.cache);
    const Result<Descriptor> other = lock_file(options_.cache + "/.lock");
    std::stop_source stop;
    auto waiting =
        std::async(std::launch::async, [&] { return fetch({pinned("f.deb", "abc")}, stop.get_token()); });
    stop.request_stop();
    expect_says(waiting.get().error(), Code::unavailable, "stopping");
}

}  // namespace
}  // namespace llmgw::service
