#include "leader/munge_key.hpp"

#include <sys/stat.h>

#include "core/base64.hpp"
#include "core/limits.hpp"
#include "json/load.hpp"
#include "service/leader.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

struct MungeKeyTest : LeaderFixture {
    std::string path() const { return directory.file("munge-key"); }
    Result<std::string> fetched() const {
        return service::LeaderClient({"http://127.0.0.1:" + std::to_string(leader->port()),
                                      directory.file("token.machine"), "", ""})
            .munge_key({});
    }
};

TEST_F(MungeKeyTest, is_for_machines_with_a_token_only) {
    start();
    EXPECT_EQ(ask("GET", "munge-key", "").status, 401);
    EXPECT_EQ(ask("PUT", "munge-key", "admin", "{}").status, 405);
    EXPECT_FALSE(std::ifstream(path()).good());
}

TEST_F(MungeKeyTest, is_not_fetched_over_plain_http_from_elsewhere) {
    write_text(directory.file("token"), "0123456789012345678901234567890123456789\n");
    ::chmod(directory.file("token").c_str(), 0600);
    const Result<std::string> key =
        service::LeaderClient({"http://192.0.2.1:8470", directory.file("token"), "", ""}).munge_key({});
    EXPECT_EQ(key.error().code, Code::denied);
    EXPECT_TRUE(has(key.error().message, "https://")) << key.error().message;
}

TEST_F(MungeKeyTest, is_made_once_and_kept) {
    start();
    const Result<std::string> key = fetched();
    ASSERT_TRUE(key.ok()) << key.error().message;
    EXPECT_EQ(key.value().size(), limits::munge_key_bytes);
    struct stat status {};
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
    EXPECT_EQ(fetched().value(), key.value());
    start();
    EXPECT_EQ(fetched().value(), key.value());
    EXPECT_EQ(http::header(ask("GET", "munge-key", "machine").headers, "Cache-Control"), "no-store");
}

TEST_F(MungeKeyTest, a_file_that_is_no_key_is_no_reason_to_make_another) {
    start();
    const std::string short_key = base64_of(std::string(limits::munge_key_least_bytes - 1, 'x'));
    const std::string long_key = base64_of(std::string(limits::munge_key_bytes + 1, 'x'));
    for (const std::string& wrong : {std::string("no key"), short_key, long_key}) {
        write_text(path(), wrong + "\n");
        ::chmod(path().c_str(), 0600);
        EXPECT_EQ(load_munge_key(directory.path()).error().code, Code::invalid) << wrong;
        EXPECT_EQ(text_in(path()), wrong + "\n");
        EXPECT_EQ(fetched().error().code, Code::invalid);
    }
    write_text(path(), base64_of(std::string(limits::munge_key_least_bytes, 'x')));
    EXPECT_EQ(fetched().value(), std::string(limits::munge_key_least_bytes, 'x'));
    ::chmod(path().c_str(), 0644);
    EXPECT_EQ(load_munge_key(directory.path()).error().code, Code::denied);
}

// A handler that a plain server would put on the network.
TEST(MungeKeyService, is_given_to_nobody_unless_the_way_is_safe) {
    test::TemporaryDirectory directory;
    std::vector<std::string> skipped;
    const auto settings = SettingsStore::open(directory.path());
    ASSERT_TRUE(settings.ok());
    const auto reports = ReportStore::open(
        directory.path(), [] { return std::int64_t{1}; }, skipped);
    ASSERT_TRUE(reports.ok());
    const auto accounts = AccountsStore::open(directory.path());
    ASSERT_TRUE(accounts.ok());
    const auto leases = LeaseStore::open(directory.path());
    ASSERT_TRUE(leases.ok());
    const auto site = SiteFile::open(directory.path());
    ASSERT_TRUE(site.ok());
    Service service(
        {*settings.value(), *reports.value(), *accounts.value(), *leases.value(), *site.value()},
        Tokens{"admin", "machine"}, [](http::Topic) {}, [](const std::string&) {});
    http::Incoming request;
    request.method = "GET";
    request.target.segments = {"slurm", "v1", "munge-key"};
    const auto answer = std::get<http::Answer>(service.answer(request));
    EXPECT_EQ(answer.status, 403);
    EXPECT_TRUE(has(*answer.body, "TLS")) << *answer.body;
}

}  // namespace
}  // namespace llmgw::leader
