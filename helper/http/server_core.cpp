#include "http/server_core.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "http/listener.hpp"
#include "http/mhd.hpp"

namespace llmgw::http {
namespace {

// Files other than connections: the listener, epoll sets, state files.
constexpr rlim_t other_files = 64;

unsigned affordable(unsigned connections) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return connections;
    const rlim_t room = files.rlim_cur > 2 * other_files ? files.rlim_cur - other_files : other_files;
    return static_cast<unsigned>(std::min<rlim_t>(connections, room));
}

Answer too_long(std::size_t limit) {
    return error_answer(413,
                        "the body has more than " + std::to_string(limit) + " bytes, which is the most here");
}

}  // namespace

// A connection.
struct Server::Core::Link {
    int fd = -1;
    bool expected = false;  // `entry` is valid
    Agenda<Link>::iterator entry;
};

// A request, from its first line to the last byte of its answer.
struct Server::Core::Exchange {
    MHD_Connection* connection = nullptr;
    std::string raw_target;
    Incoming incoming;
    bool admitted = false;
    std::optional<Answer> refusal;
    std::size_t body_limit = 0;
    std::size_t dropped = 0;
    bool here = false;                           // all of it was read
    std::optional<Clock::time_point> poll_over;  // set by the first Wait
};

Result<void> Server::Core::start(const ServerOptions& options) {
    Result<Descriptor> listener = listen_on(options.address, options.port);
    if (!listener) return listener.error();
    const Result<std::uint16_t> port = port_of(listener.value());
    if (!port) return port.error();
    port_ = port.value();
    const bool tls = !options.certificate.empty();
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (tls) flags |= MHD_USE_TLS;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(idle_).count();
    std::array<MHD_OptionItem, 4> security{};
    if (tls) {
        security = {{{MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(options.certificate.c_str())},
                     {MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(options.key.c_str())},
                     {MHD_OPTION_HTTPS_PRIORITIES, 0,
                      const_cast<char*>("NORMAL:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2")},
                     {MHD_OPTION_END, 0, nullptr}}};
    } else {
        security[0] = {MHD_OPTION_END, 0, nullptr};
    }
    // From here on the socket is libmicrohttpd's, whether it starts or not.
    const int socket = listener.value().release();
    daemon_ = MHD_start_daemon(
        flags, 0, nullptr, nullptr, &Core::on_request, this, MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_THREAD_POOL_SIZE, options.threads, MHD_OPTION_CONNECTION_LIMIT,
        affordable(options.connections), MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(seconds),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits::http_head_bytes, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, &Core::on_target, this, MHD_OPTION_NOTIFY_COMPLETED, &Core::on_completed,
        this, MHD_OPTION_NOTIFY_CONNECTION, &Core::on_connection, this, MHD_OPTION_ARRAY, security.data(),
        MHD_OPTION_END);
    if (daemon_ == nullptr) {
        return Error{Code::invalid,
                     tls ? "the HTTP server does not start: is the TLS certificate a PEM file, and is "
                           "the key the one that belongs to it?"
                         : "the HTTP server does not start"};
    }
    timer_ = std::thread([this] { keep_time(); });
    return {};
}

Server::Core::~Core() {
    if (daemon_ == nullptr) return;
    const MHD_socket listener = MHD_quiesce_daemon(daemon_);
    {
        std::unique_lock lock(mutex_);
        stopping_ = true;
        for (auto& agenda : waiting_) resume_all(agenda, true);
        changed_.notify_all();
        changed_.wait_for(lock, limits::http_farewell, [this] { return answering_ == 0; });
    }
    timer_.join();
    MHD_stop_daemon(daemon_);
    const Descriptor closed(listener);
}

void* Server::Core::on_target(void*, const char* target, MHD_Connection* connection) noexcept {
    try {
        auto exchange = std::make_unique<Exchange>();
        exchange->connection = connection;
        exchange->raw_target = target;
        return exchange.release();
    } catch (...) {
        return nullptr;  // no memory: on_request drops the connection
    }
}

MHD_Result Server::Core::on_request(void* core, MHD_Connection*, const char*, const char* method, const char*,
                                    const char* data, std::size_t* size, void** exchange) noexcept {
    try {
        if (*exchange == nullptr) return MHD_NO;
        const std::string_view piece = *size > 0 ? std::string_view(data, *size) : std::string_view{};
        return static_cast<Core*>(core)->take(*static_cast<Exchange*>(*exchange), method, piece, *size);
    } catch (...) {
        return MHD_NO;  // out of memory: the connection is dropped, the server goes on
    }
}

MHD_Result Server::Core::take(Exchange& exchange, const char* method, std::string_view data,
                              std::size_t& left) {
    if (!exchange.admitted) {
        exchange.admitted = true;
        admit(exchange, method);
        // Too much to be dropped politely: answer at once, and libmicrohttpd closes the connection.
        const bool hopeless =
            exchange.refusal && announced_size(exchange.incoming.headers) > limits::http_dropped_bytes;
        return hopeless ? queue_answer(exchange.connection, *exchange.refusal) : MHD_YES;
    }
    if (!data.empty()) {
        left = 0;
        if (!exchange.refusal && data.size() > exchange.body_limit - exchange.incoming.body.size()) {
            exchange.refusal = too_long(exchange.body_limit);
            exchange.incoming.body.clear();
        }
        if (!exchange.refusal) {
            exchange.incoming.body.append(data);
            return MHD_YES;
        }
        exchange.dropped += data.size();
        return exchange.dropped > limits::http_dropped_bytes ? MHD_NO : MHD_YES;
    }
    if (!exchange.here) {
        exchange.here = true;
        const MHD_ConnectionInfo* const info =
            MHD_get_connection_info(exchange.connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        const std::lock_guard lock(mutex_);
        if (info != nullptr && info->socket_context != nullptr)
            request_is_here(*static_cast<Link*>(info->socket_context));
        ++answering_;
    }
    return exchange.refusal ? queue_answer(exchange.connection, *exchange.refusal) : reply(exchange);
}

void Server::Core::admit(Exchange& exchange, const char* method) {
    Incoming& incoming = exchange.incoming;
    incoming.method = method;
    incoming.headers = headers_of(exchange.connection);
    Result<Target> target = parse_target(exchange.raw_target);
    if (!target) {
        exchange.refusal = error_answer(400, target.error().message);
        return;
    }
    incoming.target = std::move(target).value();
    std::variant<Answer, std::size_t> admitted = handler_.admit(incoming);
    if (auto* const refusal = std::get_if<Answer>(&admitted)) {
        exchange.refusal = std::move(*refusal);
        return;
    }
    exchange.body_limit = *std::get_if<std::size_t>(&admitted);
    if (announced_size(incoming.headers) > exchange.body_limit) {
        exchange.refusal = too_long(exchange.body_limit);
    }
}

MHD_Result Server::Core::reply(Exchange& exchange) {
    for (;;) {
        News seen;
        {
            const std::lock_guard lock(mutex_);
            seen = news_;
            exchange.incoming.waited = exchange.incoming.waited || stopping_;
        }
        std::variant<Answer, Wait> reply;
        try {
            reply = handler_.answer(exchange.incoming);
        } catch (...) {
            reply = error_answer(500, "the server failed to answer; its log may say why");
        }
        if (const auto* const answer = std::get_if<Answer>(&reply))
            return queue_answer(exchange.connection, *answer);
        if (exchange.incoming.waited)
            return queue_answer(exchange.connection, error_answer(500, "there is no answer"));
        if (suspend(exchange, *std::get_if<Wait>(&reply), seen)) return MHD_YES;
    }
}

// False where there was news meanwhile, or the time is over: ask again.
bool Server::Core::suspend(Exchange& exchange, const Wait& wait, const News& seen) {
    const Clock::time_point now = Clock::now();
    if (!exchange.poll_over) exchange.poll_over = now + wait.time;
    const std::lock_guard lock(mutex_);
    if (stopping_ || *exchange.poll_over <= now) {
        exchange.incoming.waited = true;
        return false;
    }
    if (news_.at(wait.topic) != seen.at(wait.topic)) return false;
    waiting_.at(wait.topic).emplace(*exchange.poll_over, &exchange);
    MHD_suspend_connection(exchange.connection);
    if (*exchange.poll_over < alarm_) changed_.notify_all();
    return true;
}

void Server::Core::resume_all(Agenda<Exchange>& agenda, bool waited) {
    for (const auto& [over, exchange] : agenda) {
        exchange->incoming.waited = waited;
        MHD_resume_connection(exchange->connection);
    }
    agenda.clear();
}

void Server::Core::wake(Topic topic) {
    const std::lock_guard lock(mutex_);
    ++news_.at(topic);
    resume_all(waiting_.at(topic), false);
}

std::size_t Server::Core::waiting() const {
    const std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (const auto& agenda : waiting_) sum += agenda.size();
    return sum;
}

void Server::Core::on_completed(void* core, MHD_Connection* connection, void** exchange,
                                MHD_RequestTerminationCode) noexcept {
    const std::unique_ptr<Exchange> over(static_cast<Exchange*>(*exchange));
    *exchange = nullptr;
    if (!over) return;
    auto& self = *static_cast<Core*>(core);
    const MHD_ConnectionInfo* const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const std::lock_guard lock(self.mutex_);
    if (info != nullptr && info->socket_context != nullptr)
        self.expect_request(*static_cast<Link*>(info->socket_context));
    if (over->here && --self.answering_ == 0 && self.stopping_) self.changed_.notify_all();
}

void Server::Core::on_connection(void* core, MHD_Connection* connection, void** link,
                                 MHD_ConnectionNotificationCode code) noexcept {
    auto& self = *static_cast<Core*>(core);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        // The descriptor is still open here; past this call nobody may touch it.
        const std::unique_ptr<Link> gone(static_cast<Link*>(*link));
        *link = nullptr;
        const std::lock_guard lock(self.mutex_);
        if (gone) self.request_is_here(*gone);
        return;
    }
    const MHD_ConnectionInfo* const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    auto* const fresh = new (std::nothrow) Link;
    if (fresh == nullptr || info == nullptr) return;
    fresh->fd = info->connect_fd;
    *link = fresh;
    const std::lock_guard lock(self.mutex_);
    self.expect_request(*fresh);
}

void Server::Core::expect_request(Link& link) {
    request_is_here(link);
    const Clock::time_point due = Clock::now() + idle_;
    link.entry = arriving_.emplace(due, &link);
    link.expected = true;
    if (due < alarm_) changed_.notify_all();
}

void Server::Core::request_is_here(Link& link) {
    if (link.expected) arriving_.erase(link.entry);
    link.expected = false;
}

void Server::Core::keep_time() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        alarm_ = settle_due(Clock::now());
        // "Never" would overflow inside wait_until.
        changed_.wait_until(lock, std::min(alarm_, Clock::now() + std::chrono::hours(1)));
    }
}

Server::Core::Clock::time_point Server::Core::settle_due(Clock::time_point now) {
    Clock::time_point next = Clock::time_point::max();
    for (auto& agenda : waiting_) {
        while (!agenda.empty() && agenda.begin()->first <= now) {
            agenda.begin()->second->incoming.waited = true;
            MHD_resume_connection(agenda.begin()->second->connection);
            agenda.erase(agenda.begin());
        }
        if (!agenda.empty()) next = std::min(next, agenda.begin()->first);
    }
    // libmicrohttpd's own time-out starts again with each byte; this one doesn't.
    while (!arriving_.empty() && arriving_.begin()->first <= now) {
        Link& slow = *arriving_.begin()->second;
        ::shutdown(slow.fd, SHUT_RDWR);
        request_is_here(slow);
    }
    if (!arriving_.empty()) next = std::min(next, arriving_.begin()->first);
    return next;
}

}  // namespace llmgw::http
