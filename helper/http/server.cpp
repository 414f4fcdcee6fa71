#include "http/server.hpp"

#include "http/server_core.hpp"

namespace llmgw::http {
namespace {

// Bytes outside printable ASCII become spaces: error messages hold other people's text, and need no more.
std::string json_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c >= ' ' && c < 0x7f ? c : ' ';
    }
    return quoted + '"';
}

}  // namespace

Answer json_answer(int status, std::string body) {
    return {status, std::make_shared<const std::string>(std::move(body)), {}};
}

Answer error_answer(int status, std::string_view message) {
    return json_answer(status, "{\"error\":" + json_text(message) + "}");
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

Result<Server> Server::start(const ServerOptions& options, Handler& handler) {
    if (options.certificate.empty() != options.key.empty()) {
        return Error{Code::invalid, "a TLS certificate needs its key, and a key its certificate: give both"};
    }
    if (options.certificate.empty() && !is_loopback(options.address)) {
        return Error{Code::invalid, "refusing to listen on " + options.address +
                                        " without TLS: tokens would cross the network in the clear. Give a "
                                        "certificate and its key, or listen on 127.0.0.1"};
    }
    auto core = std::make_unique<Core>(options, handler);
    if (Result<void> started = core->start(options); !started) return started.error();
    return Server(std::move(core));
}

std::uint16_t Server::port() const {
    return core_->port();
}
void Server::wake(Topic topic) {
    core_->wake(topic);
}
std::size_t Server::waiting() const {
    return core_->waiting();
}

}  // namespace llmgw::http
