// The server's inside: the one place that sees libmicrohttpd.
//
// A request that waits is suspended in libmicrohttpd (out of its epoll set, no thread) and stands in
// `waiting_` under its topic. wake() and the timer thread resume it; its handler is then asked again. Nothing
// is lost between "no news" and the suspension: the count of news seen before asking is compared under the
// lock.
#pragma once

#include <microhttpd.h>

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "http/server.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::http {

class Server::Core {
  public:
    Core(const ServerOptions& options, Handler& handler) : handler_(handler), idle_(options.idle) {}
    ~Core();
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    Result<void> start(const ServerOptions& options);
    [[nodiscard]] std::uint16_t port() const { return port_; }
    void wake(Topic topic);
    [[nodiscard]] std::size_t waiting() const;

  private:
    using Clock = std::chrono::steady_clock;
    using News = std::array<std::uint64_t, topics>;
    struct Link;
    struct Exchange;
    template <class T>
    using Agenda = std::multimap<Clock::time_point, T*>;

    static void* on_target(void* core, const char* target, MHD_Connection* connection) noexcept;
    static MHD_Result on_request(void* core, MHD_Connection* connection, const char* url, const char* method,
                                 const char* version, const char* data, std::size_t* size,
                                 void** exchange) noexcept;
    static void on_completed(void* core, MHD_Connection* connection, void** exchange,
                             MHD_RequestTerminationCode code) noexcept;
    static void on_connection(void* core, MHD_Connection* connection, void** link,
                              MHD_ConnectionNotificationCode code) noexcept;

    MHD_Result take(Exchange& exchange, const char* method, std::string_view data, std::size_t& left);
    void admit(Exchange& exchange, const char* method);
    MHD_Result reply(Exchange& exchange);
    bool suspend(Exchange& exchange, const Wait& wait, const News& seen);
    void resume_all(Agenda<Exchange>& agenda, bool waited);

    void expect_request(Link& link);
    void request_is_here(Link& link);
    void keep_time();
    Clock::time_point settle_due(Clock::time_point now);

    Handler& handler_;
    const std::chrono::milliseconds idle_;
    MHD_Daemon* daemon_ = nullptr;
    std::uint16_t port_ = 0;
    std::thread timer_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Clock::time_point alarm_ = Clock::time_point::max();  // when the timer thread looks next
    std::array<Agenda<Exchange>, topics> waiting_;        // by when the poll is over
    Agenda<Link> arriving_;                               // by when the request has to be here
    News news_{};
    std::size_t answering_ = 0;  // requests that are here and whose answer has not left
    bool stopping_ = false;
};

}  // namespace llmgw::http
