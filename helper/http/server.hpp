// A small HTTP/1.1 server on libmicrohttpd: bounded requests, a handful of threads, and long polls that hold
// a connection but no thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/limits.hpp"
#include "core/result.hpp"
#include "http/client.hpp"
#include "http/url.hpp"

namespace llmgw::http {

struct Incoming {
    std::string method;
    Target target;
    Headers headers;  // those with a value, the first 64 of them
    std::string body;
    bool waited = false;  // a Wait of this request's ran out
};

// What handlers say "wait for news about" with.
using Topic = std::size_t;
inline constexpr std::size_t topics = 64;

struct Answer {
    int status = 200;
    std::shared_ptr<const std::string> body;  // shared, since one news may go to thousands of polls at once
    Headers headers;
};

// Ask again when there is news about `topic`, or with `waited` set when `time` is over.
struct Wait {
    Topic topic = 0;
    std::chrono::milliseconds time{0};
};

Answer json_answer(int status, std::string body);
// {"error": "..."}
Answer error_answer(int status, std::string_view message);

// Called from several threads at once. Must not throw; what escapes becomes a 500.
class Handler {
  public:
    Handler() = default;
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    virtual ~Handler() = default;

    // Looks at everything but the body, which has not been read yet: a refusal, or how long the body may be.
    virtual std::variant<Answer, std::size_t> admit(const Incoming& request) = 0;
    virtual std::variant<Answer, Wait> answer(const Incoming& request) = 0;
};

struct ServerOptions {
    std::string address = "127.0.0.1";  // an IPv4 or IPv6 address
    std::uint16_t port = 0;             // 0: any free one
    std::string certificate;            // PEM, with its chain; empty: plain HTTP, on loopback only
    std::string key;                    // PEM
    unsigned threads = limits::http_threads;
    unsigned connections = limits::http_connections;  // fewer where the limit on open files asks for it
    std::chrono::milliseconds idle = limits::http_idle;
};

class Server {
  public:
    // `handler` outlives the server. Errors: invalid (options), unavailable (the port).
    static Result<Server> start(const ServerOptions& options, Handler& handler);
    // Lets go of every poll with the answer its handler has for it (`waited`), gives those answers
    // limits::http_farewell to leave, and ends.
    ~Server();
    Server(Server&&) noexcept;
    Server& operator=(Server&&) noexcept;

    [[nodiscard]] std::uint16_t port() const;
    // There is news: every request that waits for it is asked again. Cheap, from any thread.
    void wake(Topic topic);
    // Requests that wait just now.
    [[nodiscard]] std::size_t waiting() const;

  private:
    class Core;
    explicit Server(std::unique_ptr<Core> core);
    std::unique_ptr<Core> core_;
};

}  // namespace llmgw::http
