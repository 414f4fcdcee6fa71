// Both ends of HTTP tests: a raw client that can misbehave, a server that can lie, and a place for files.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "http/listener.hpp"
#include "posix/descriptor.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

// A connection to loopback that sends whatever bytes it is told to.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        union {
            sockaddr any;
            sockaddr_in four;
        } address{};
        address.four.sin_family = AF_INET;
        address.four.sin_port = htons(port);
        address.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_.get(), &address.any, sizeof(address.four)) == 0;
    }

    [[nodiscard]] bool connected() const { return connected_; }
    bool send(std::string_view bytes) const {
        return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(bytes.size());
    }
    // Everything until the server closes, or five seconds have passed without a byte.
    [[nodiscard]] std::string rest() const {
        std::string all;
        for (;;) {
            pollfd ready{socket_.get(), POLLIN, 0};
            if (::poll(&ready, 1, 5000) <= 0) return all + "<silence>";
            char buffer[4096];
            const ssize_t got = ::recv(socket_.get(), buffer, sizeof(buffer), 0);
            if (got <= 0) return all;
            all.append(buffer, static_cast<std::size_t>(got));
        }
    }

  private:
    Descriptor socket_;
    bool connected_ = false;
};

// Accepts one connection, reads a request's head, and does as it is told.
class LyingServer {
  public:
    explicit LyingServer(std::function<void(int)> act) {
        Result<Descriptor> listener = http::listen_on("127.0.0.1", 0);
        EXPECT_TRUE(listener.ok());
        if (!listener) return;
        listener_ = std::move(listener).value();
        port_ = http::port_of(listener_).value();
        thread_ = std::thread([this, act = std::move(act)] {
            pollfd ready{listener_.get(), POLLIN, 0};
            if (::poll(&ready, 1, 10'000) <= 0) return;
            const Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            while (head_.find("\r\n\r\n") == std::string::npos) {
                char buffer[4096];
                const ssize_t got = ::recv(client.get(), buffer, sizeof(buffer), 0);
                if (got <= 0) return;
                head_.append(buffer, static_cast<std::size_t>(got));
            }
            act(client.get());
        });
    }
    ~LyingServer() {
        if (thread_.joinable()) thread_.join();
    }
    LyingServer(const LyingServer&) = delete;
    LyingServer& operator=(const LyingServer&) = delete;

    [[nodiscard]] std::string url(const std::string& target = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + target;
    }
    // What the client sent; the server's work is over then.
    const std::string& head() {
        if (thread_.joinable()) thread_.join();
        return head_;
    }

    static bool say(int fd, std::string_view bytes) {
        return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    }

  private:
    Descriptor listener_;
    std::uint16_t port_ = 0;
    std::string head_;
    std::thread thread_;
};

}  // namespace llmgw::test
