// A leader over a directory of its own, and requests to it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "http/client.hpp"
#include "leader/leader.hpp"
#include "unit/http/support.hpp"
#include "unit/leader/contract.hpp"

namespace llmgw::leader {

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}
inline std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}
inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline const char* const some_settings =
    "{\n  \"enabled\": true,\n  \"controller\": \"n1\",\n  \"nodes\": [\"n1\", \"n2\", \"n3\"],\n  \"lent\": "
    "[\"n2\"]\n}\n";

inline std::string report_of(const std::string& name,
                             const std::string& reason = "pyxis 0.24.0, enroot 4.2.1") {
    return R"({"name":")" + name + R"(","state":"ready","reason":")" + reason +
           R"(","versions":{"enroot":"4.2.1","pyxis":"0.24.0"},"boot":"b00t","helper":"0.1.0"})";
}

struct LeaderFixture : testing::Test {
    test::TemporaryDirectory directory;
    std::atomic<std::int64_t> clock{2'000'000'000};  // later than any file
    std::unique_ptr<Leader> leader;

    void start() {
        leader.reset();
        Options options;
        options.directory = directory.path();
        options.port = 0;
        options.longest_lease_pause = std::chrono::milliseconds(100);
        Result<std::unique_ptr<Leader>> started = Leader::start(options, [this] { return clock.load(); });
        ASSERT_TRUE(started.ok()) << started.error().message;
        leader = std::move(started).value();
    }
    std::string token(const std::string& kind) const {
        std::string text = text_in(directory.file("token." + kind));
        return text.substr(0, text.find('\n'));
    }
    http::Request request(const std::string& method, const std::string& target,
                          const std::string& kind) const {
        http::Request request;
        request.method = method;
        request.url = "http://127.0.0.1:" + std::to_string(leader->port()) + "/slurm/v1/" + target;
        if (!kind.empty()) request.bearer = token(kind);
        return request;
    }
    static http::Response sent(const http::Request& request) {
        Result<http::Response> response = http::fetch(request);
        EXPECT_TRUE(response.ok()) << response.error().message;
        if (response) {
            EXPECT_EQ(test::Contract::violation(request, response.value()), "")
                << request.method << ' ' << request.url << ": " << response.value().status;
        }
        return response ? std::move(response).value() : http::Response{};
    }
    http::Response ask(const std::string& method, const std::string& target, const std::string& kind,
                       const std::string& body = "") const {
        http::Request asked = request(method, target, kind);
        asked.body = body;
        return sent(asked);
    }
};

}  // namespace llmgw::leader
