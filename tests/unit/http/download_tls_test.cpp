#include "unit/http/certificate.hpp"
#include "unit/http/on_server.hpp"

namespace llmgw::http {
namespace {

class TlsDownload : public test::OnServer {
  protected:
    [[nodiscard]] Download secure(const std::string& url) const {
        Download what = from(url);
        what.ca_file = certificate_.file();
        return what;
    }
    static std::string url(const Server& server, const std::string& target,
                           const std::string& host = "localhost") {
        return test::Certificate::url(server, target, host);
    }

    test::Certificate certificate_;
    test::TlsFiles files_;
};

TEST_F(TlsDownload, IsRefusedFromWhoeverCantShowWhoTheyAre) {
    const Server server = certificate_.started(files_);
    Download what = secure(url(server, "/f"));
    what.ca_file.clear();
    const Error error = download(what).error();
    EXPECT_EQ(error.code, Code::denied) << "not signed by anyone known";
    EXPECT_NE(error.message.find("is this machine's clock right"), std::string::npos) << error.message;
    EXPECT_EQ(download(secure(url(server, "/f", "127.0.0.1"))).error().code, Code::denied) << "another name";
    what.ca_file = place_.file("missing");
    EXPECT_EQ(download(what).error().code, Code::denied);
    EXPECT_EQ(content(), "");
}

TEST_F(TlsDownload, DoesNotFallBackToPlainHttp) {
    test::FaultyServer plain(
        [](int, const std::string&, std::size_t) { ADD_FAILURE() << "it was followed"; });
    files_.elsewhere = plain.url();
    const Server server = certificate_.started(files_);
    const Result<Downloaded> downloaded = download(secure(url(server, "/to")));
    ASSERT_FALSE(downloaded.ok());
    EXPECT_EQ(downloaded.error().code, Code::invalid);
    EXPECT_NE(downloaded.error().message.find("by http, which isn't followed from https"), std::string::npos)
        << downloaded.error().message;
}

TEST_F(TlsDownload, FollowsRedirectsToAnotherServer) {
    files_.bytes = test::some_bytes(50'000);
    const Server last = certificate_.started(files_);
    test::TlsFiles first;
    first.elsewhere = url(last, "/f?signature=1");
    const Server server = certificate_.started(first);
    const Result<Downloaded> downloaded = download(secure(url(server, "/to")));
    ASSERT_TRUE(downloaded.ok()) << downloaded.error().message;
    EXPECT_EQ(downloaded.value(), (Downloaded{files_.bytes.size(), true}));
    EXPECT_EQ(content(), files_.bytes);
}

}  // namespace
}  // namespace llmgw::http
