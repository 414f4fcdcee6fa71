// The program itself, as systemd and admins deal with it: notifications, signals, edits, and sudden death.
#include <fcntl.h>
#include <spawn.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <future>

#include "built_paths.hpp"
#include "json/load.hpp"
#include "json/settings_json.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

// A leader under a stand-in for systemd.
class Program {
  public:
    explicit Program(const std::string& directory)
        : directory_(directory), manager_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        // An abstract name, so that its length doesn't depend on the temporary directory's.
        const std::string name = "llmgw-test-notify-" + std::to_string(::getpid());
        union {
            sockaddr any;
            sockaddr_un un;
        } address{};
        address.un.sun_family = AF_UNIX;
        name.copy(address.un.sun_path + 1, sizeof(address.un.sun_path) - 1);
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        EXPECT_EQ(::bind(manager_.get(), &address.any, size), 0);
        std::string binary = LLMGW_LEADER_PROGRAM;
        std::string variable = "NOTIFY_SOCKET=@" + name;
        std::string option = "--directory";
        std::string listen = "--listen=127.0.0.1:0";
        std::array<char*, 5> arguments{binary.data(), option.data(), directory_.data(), listen.data(),
                                       nullptr};
        std::array<char*, 2> environment{variable.data(), nullptr};
        const int error =
            ::posix_spawn(&pid_, binary.c_str(), nullptr, nullptr, arguments.data(), environment.data());
        EXPECT_EQ(error, 0) << "is " << binary << " built?";
        if (error != 0) {
            pid_ = -1;
            return;
        }
        const std::string ready = told("READY=1");
        url_ = ready.substr(ready.find("http://"),
                            ready.find('\n', ready.find("http://")) - ready.find("http://"));
    }
    ~Program() { end(SIGKILL); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // The next notification with `part` in it.
    std::string told(const std::string& part) const {
        for (;;) {
            pollfd ready{manager_.get(), POLLIN, 0};
            if (::poll(&ready, 1, 20'000) <= 0) return "";
            std::array<char, 4096> buffer{};
            const ssize_t got = ::recv(manager_.get(), buffer.data(), buffer.size(), 0);
            if (got <= 0) return "";
            std::string text(buffer.data(), static_cast<std::size_t>(got));
            if (has(text, part)) return text;
        }
    }
    void signal(int number) const {
        if (pid_ > 0) ::kill(pid_, number);
    }
    // The exit code, or minus the signal.
    int end(int number) {
        if (pid_ <= 0) return -1;
        int status = 0;
        ::kill(pid_, number);
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    Result<http::Response> ask(const std::string& method, const std::string& target,
                               const std::string& body = "", const http::Headers& headers = {}) const {
        http::Request request;
        request.method = method;
        request.url = url_ + "/slurm/v1/" + target;
        request.body = body;
        request.headers = headers;
        const std::string token = text_in(directory_ + "/token.admin");
        request.bearer = token.substr(0, token.find('\n'));
        Result<http::Response> response = http::fetch(request);
        if (response) {
            EXPECT_EQ(test::Contract::violation(request, response.value()), "") << target;
        }
        return response;
    }
    std::int64_t revision(const std::string& target) const {
        return *json::parse(ask("GET", target).value().body).value().find("revision")->integer();
    }

  private:
    std::string directory_;
    Descriptor manager_;
    pid_t pid_ = -1;
    std::string url_;
};

struct LeaderProgram : testing::Test {
    test::TemporaryDirectory directory;
    std::string settings = directory.file("settings.json");
};

TEST_F(LeaderProgram, PicksUpEditsInPlaceAndByRename) {
    write_text(settings, some_settings);
    const Program program(directory.path());
    const auto next = [&](const std::string& edit) {
        const std::int64_t seen = program.revision("settings");
        auto poll = std::async(std::launch::async, [&, seen] {
            return program.ask("GET", "settings?wait=30", "",
                               {{"If-None-Match", "\"" + std::to_string(seen) + "\""}});
        });
        write_text(edit.starts_with('{') ? settings : directory.file("settings.json~"), edit);
        if (!edit.starts_with('{')) std::filesystem::rename(directory.file("settings.json~"), settings);
        return poll.get().value().body;
    };
    EXPECT_TRUE(has(next(R"({"enabled":false,"controller":"n1"})"),
                    R"("settings":{"enabled":false,"controller":"n1"}})"));
    EXPECT_TRUE(has(next("  nonsense"), "problem"));
    EXPECT_FALSE(has(next(R"(  {"enabled":false})"), "problem"));
}

TEST_F(LeaderProgram, AnswersPollsBeforeItEndsOnSigterm) {
    Program program(directory.path());
    const std::string seen = "\"" + std::to_string(program.revision("settings")) + "\"";
    auto poll = std::async(std::launch::async, [&] {
        return program.ask("GET", "settings?wait=60", "", {{"If-None-Match", seen}});
    });
    // Another poll that is answered shows that the first, sent before, has arrived.
    EXPECT_EQ(program.ask("GET", "settings?wait=1", "", {{"If-None-Match", seen}}).value().status, 304);
    EXPECT_EQ(program.end(SIGTERM), 0);
    EXPECT_EQ(poll.get().value().status, 304);
    EXPECT_NE(program.told("STOPPING=1"), "");
}

TEST_F(LeaderProgram, ReadsTokensAgainOnSighup) {
    const Program program(directory.path());
    EXPECT_EQ(program.ask("GET", "settings").value().status, 200);
    std::filesystem::remove(directory.file("token.admin"));
    program.signal(SIGHUP);
    EXPECT_NE(program.told("STATUS="), "");
    EXPECT_EQ(program.ask("GET", "settings").value().status, 200);
}

TEST_F(LeaderProgram, LosesNothingItAnsweredForWhenItIsKilled) {
    write_text(settings, R"({"enabled":true,"controller":"n1","all_nodes":true})");
    std::int64_t seen = 0;
    std::string lent;
    for (int death = 0; death < 8; ++death) {
        Program program(directory.path());
        EXPECT_GT(program.revision("settings"), seen);
        const std::string before = program.ask("GET", "settings").value().body;
        EXPECT_FALSE(has(before, "problem")) << before;
        EXPECT_TRUE(lent.empty() || has(before, "\"" + lent + "\"")) << before;
        const std::string machines = program.ask("GET", "machines").value().body;
        EXPECT_TRUE(lent.empty() || has(machines, "\"name\":\"" + lent + "\"")) << machines;
        // At another place of the work each time, and never before something was answered.
        std::atomic<int> answered{0};
        std::thread killer([&, death] {
            EXPECT_TRUE(test::eventually([&] { return answered > death / 2; }));
            ::poll(nullptr, 0, death);
            program.signal(SIGKILL);
        });
        for (int i = 0;; ++i) {
            const std::string name = "d" + std::to_string(death) + "-" + std::to_string(i);
            if (!program.ask("PUT", "machines/" + name, report_of(name))) break;
            const auto patched = program.ask("PATCH", "settings", R"({"lent":{"add":[")" + name + "\"]}}");
            if (!patched) break;
            EXPECT_EQ(patched.value().status, 200) << patched.value().body;
            lent = name;
            ++answered;
            seen = *json::parse(patched.value().body).value().find("revision")->integer();
        }
        killer.join();
        EXPECT_EQ(program.end(SIGKILL), -SIGKILL);
        EXPECT_TRUE(json::read_settings_text(text_in(settings)).ok()) << text_in(settings);
    }
    EXPECT_NE(lent, "") << "nothing was ever answered";
}

}  // namespace
}  // namespace llmgw::leader
