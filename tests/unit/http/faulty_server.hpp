// A server for downloads that fails in every way a test asks for.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/listener.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::test {

// A file as a decent server has it, and what goes wrong with it.
struct Served {
    std::string content;
    std::string etag;                           // empty: none is said
    std::string last_modified;                  // empty: none is said
    std::size_t cut_after = std::string::npos;  // the connection ends behind so many bytes of a body
    bool ranges = true;
    bool conditions = true;  // If-Range is looked at
};

class FaultyServer {
  public:
    // What to do with a connection whose request has come; `index` counts requests from 0.
    using Act = std::function<void(int fd, const std::string& head, std::size_t index)>;

    explicit FaultyServer(Act act) : act_(std::move(act)), over_(::eventfd(0, EFD_CLOEXEC)) {
        Result<Descriptor> listener = http::listen_on("127.0.0.1", 0);
        EXPECT_TRUE(listener.ok());
        if (!listener) return;
        listener_ = std::move(listener).value();
        port_ = http::port_of(listener_).value();
        thread_ = std::thread([this] { accept_all(); });
    }
    explicit FaultyServer(Served served)
        : FaultyServer([served = std::move(served)](int fd, const std::string& head, std::size_t) {
              serve(fd, head, served);
          }) {}
    ~FaultyServer() {
        EXPECT_EQ(::eventfd_write(over_.get(), 1), 0);
        if (thread_.joinable()) thread_.join();
    }
    FaultyServer(const FaultyServer&) = delete;
    FaultyServer& operator=(const FaultyServer&) = delete;

    [[nodiscard]] std::string url(const std::string& target = "/file") const {
        return "http://127.0.0.1:" + std::to_string(port_) + target;
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    // The requests so far, each with its headers.
    [[nodiscard]] std::vector<std::string> heads() const {
        const std::lock_guard lock(mutex_);
        return heads_;
    }

    static bool say(int fd, std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    // Until the client has gone away.
    static void wait_for_end(int fd) {
        char byte = 0;
        while (::recv(fd, &byte, 1, 0) > 0) continue;
    }
    // The value of a header as libcurl writes it; empty when there is none.
    static std::string field(const std::string& head, const std::string& name) {
        const std::size_t at = head.find("\r\n" + name + ": ");
        if (at == std::string::npos) return "";
        const std::size_t begin = at + name.size() + 4;
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
    static void serve(int fd, const std::string& head, const Served& served) {
        std::string range = served.ranges ? field(head, "Range") : "";
        const std::string condition = field(head, "If-Range");
        if (served.conditions && !condition.empty() && condition != served.etag &&
            condition != served.last_modified)
            range.clear();
        std::size_t first = 0;
        const std::size_t total = served.content.size();
        std::string answer = "HTTP/1.1 200 OK\r\n";
        if (!range.empty()) {
            first = std::stoul(range.substr(range.find('=') + 1));
            if (first >= total) {
                say(fd, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */" +
                            std::to_string(total) + "\r\nContent-Length: 0\r\n\r\n");
                return;
            }
            answer = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(first) + "-" +
                     std::to_string(total - 1) + "/" + std::to_string(total) + "\r\n";
        }
        if (!served.etag.empty()) answer += "ETag: " + served.etag + "\r\n";
        if (!served.last_modified.empty()) answer += "Last-Modified: " + served.last_modified + "\r\n";
        answer += "Content-Length: " + std::to_string(total - first) + "\r\n\r\n";
        say(fd, answer + served.content.substr(first, served.cut_after));
    }

  private:
    void accept_all() {
        std::list<std::thread> threads;
        for (;;) {
            pollfd ready[] = {{listener_.get(), POLLIN, 0}, {over_.get(), POLLIN, 0}};
            ::poll(ready, 2, -1);
            if (ready[1].revents != 0) break;
            const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (fd >= 0) threads.emplace_back([this, fd] { answer(Descriptor(fd)); });
        }
        for (std::thread& thread : threads) thread.join();
    }
    void answer(const Descriptor& client) {
        std::string head;
        while (head.find("\r\n\r\n") == std::string::npos) {
            char buffer[4096];
            const ssize_t got = ::recv(client.get(), buffer, sizeof(buffer), 0);
            if (got <= 0) return;
            head.append(buffer, static_cast<std::size_t>(got));
        }
        std::size_t index = 0;
        {
            const std::lock_guard lock(mutex_);
            index = heads_.size();
            heads_.push_back(head);
        }
        act_(client.get(), head, index);
        // What is still on its way must not be taken back by a reset.
        ::shutdown(client.get(), SHUT_WR);
        wait_for_end(client.get());
    }

    Act act_;
    Descriptor over_;
    Descriptor listener_;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> heads_;
    std::thread thread_;
};

// Bytes that differ everywhere, so that a piece in the wrong place shows.
inline std::string some_bytes(std::size_t size, unsigned seed = 1) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        seed = seed * 1103515245U + 12345U;
        byte = static_cast<char>(seed >> 16U);
    }
    return bytes;
}

}  // namespace llmgw::test
