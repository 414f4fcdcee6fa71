#include "http/server.hpp"
#include "unit/http/on_server.hpp"

namespace llmgw::http {
namespace {

// Answers with its files, and with redirects to what is asked for under /to/.
class Files : public Handler {
  public:
    std::string bytes = test::some_bytes(50'000);
    std::string elsewhere;

    std::variant<Answer, std::size_t> admit(const Incoming&) override { return std::size_t{0}; }
    std::variant<Answer, Wait> answer(const Incoming& request) override {
        if (request.target.segments.front() == "to") return Answer{302, nullptr, {{"Location", elsewhere}}};
        return Answer{200, std::make_shared<const std::string>(bytes), {{"ETag", "\"1\""}}};
    }
};

class TlsDownload : public test::OnServer {
  protected:
    void SetUp() override {
        const std::string command =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
            "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout " +
            place_.file("key") + " -out " + place_.file("cert") + " 2>/dev/null";
        ASSERT_EQ(std::system(command.c_str()), 0) << "these tests need the openssl program";
        options_.certificate = content("cert");
        options_.key = content("key");
    }
    Server started(Handler& handler) const {
        Result<Server> server = Server::start(options_, handler);
        EXPECT_TRUE(server.ok()) << (server.ok() ? "" : server.error().message);
        return std::move(server).value();
    }
    static std::string url(const Server& server, const std::string& target,
                           const std::string& host = "localhost") {
        return "https://" + host + ":" + std::to_string(server.port()) + target;
    }
    Download secure(const std::string& url) const {
        Download what = from(url);
        what.ca_file = place_.file("cert");
        return what;
    }

    ServerOptions options_;
    Files files_;
};

TEST_F(TlsDownload, IsRefusedFromWhoeverCantShowWhoTheyAre) {
    const Server server = started(files_);
    Download what = secure(url(server, "/f"));
    what.ca_file.clear();
    EXPECT_EQ(download(what).error().code, Code::denied) << "not signed by anyone known";
    EXPECT_EQ(download(secure(url(server, "/f", "127.0.0.1"))).error().code, Code::denied) << "another name";
    what.ca_file = place_.file("missing");
    EXPECT_EQ(download(what).error().code, Code::denied);
    EXPECT_EQ(content(), "");
}

TEST_F(TlsDownload, DoesNotFallBackToPlainHttp) {
    test::FaultyServer plain(
        [](int, const std::string&, std::size_t) { ADD_FAILURE() << "it was followed"; });
    files_.elsewhere = plain.url();
    const Server server = started(files_);
    const Result<Downloaded> downloaded = download(secure(url(server, "/to")));
    ASSERT_FALSE(downloaded.ok());
    EXPECT_EQ(downloaded.error().code, Code::invalid);
    EXPECT_NE(downloaded.error().message.find("by http, which isn't followed from https"), std::string::npos)
        << downloaded.error().message;
}

TEST_F(TlsDownload, FollowsRedirectsToAnotherServer) {
    const Server last = started(files_);
    Files first;
    first.elsewhere = url(last, "/f?signature=1");
    const Server server = started(first);
    const Result<Downloaded> downloaded = download(secure(url(server, "/to")));
    ASSERT_TRUE(downloaded.ok()) << downloaded.error().message;
    EXPECT_EQ(downloaded.value(), (Downloaded{files_.bytes.size(), true}));
    EXPECT_EQ(content(), files_.bytes);
}

}  // namespace
}  // namespace llmgw::http
