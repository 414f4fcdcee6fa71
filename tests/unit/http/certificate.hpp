// A throw-away certificate for localhost, which signs itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "http/server.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

class Certificate {
  public:
    Certificate() {
        const std::string command =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
            "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout " +
            place_.file("key") + " -out " + file() + " 2>/dev/null";
        EXPECT_EQ(std::system(command.c_str()), 0) << "these tests need the openssl program";
    }
    // What a client has to trust.
    [[nodiscard]] std::string file() const { return place_.file("cert"); }
    [[nodiscard]] http::Server started(http::Handler& handler) const {
        http::ServerOptions options;
        options.certificate = content("cert");
        options.key = content("key");
        Result<http::Server> server = http::Server::start(options, handler);
        EXPECT_TRUE(server.ok()) << (server.ok() ? "" : server.error().message);
        return std::move(server).value();
    }
    static std::string url(const http::Server& server, const std::string& target,
                           const std::string& host = "localhost") {
        return "https://" + host + ":" + std::to_string(server.port()) + target;
    }

  private:
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream stream(place_.file(name));
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    TemporaryDirectory place_;
};

// Answers with its bytes, and with a redirect to what is asked for as /to.
class TlsFiles : public http::Handler {
  public:
    std::string bytes;
    std::string elsewhere;

    std::variant<http::Answer, std::size_t> admit(const http::Incoming&) override { return std::size_t{0}; }
    std::variant<http::Answer, http::Wait> answer(const http::Incoming& request) override {
        if (request.target.segments.front() == "to")
            return http::Answer{302, nullptr, {{"Location", elsewhere}}};
        return http::Answer{200, std::make_shared<const std::string>(bytes), {{"ETag", "\"1\""}}};
    }
};

}  // namespace llmgw::test
