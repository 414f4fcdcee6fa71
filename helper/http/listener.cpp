#include "http/listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "core/shown.hpp"
#include "posix/file.hpp"

namespace llmgw::http {
namespace {

// After a restart of 20,000 machines' leader they all come back at once.
constexpr int backlog = 4096;

union Address {
    sockaddr any;
    sockaddr_in four;
    sockaddr_in6 six;
};

struct Parsed {
    Address address{};
    socklen_t size = 0;
};

Result<Parsed> parse(const std::string& text, std::uint16_t port) {
    Parsed parsed;
    if (::inet_pton(AF_INET, text.c_str(), &parsed.address.four.sin_addr) == 1) {
        parsed.address.four.sin_family = AF_INET;
        parsed.address.four.sin_port = htons(port);
        parsed.size = sizeof(parsed.address.four);
        return parsed;
    }
    if (::inet_pton(AF_INET6, text.c_str(), &parsed.address.six.sin6_addr) == 1) {
        parsed.address.six.sin6_family = AF_INET6;
        parsed.address.six.sin6_port = htons(port);
        parsed.size = sizeof(parsed.address.six);
        return parsed;
    }
    return Error{Code::invalid, shown(text) + " is not an address to listen on: use an IPv4 or IPv6 address"};
}

}  // namespace

Result<Descriptor> listen_on(const std::string& address, std::uint16_t port) {
    Result<Parsed> parsed = parse(address, port);
    if (!parsed) return parsed.error();
    const auto fail = [&](int error_number) {
        return Error{Code::unavailable, "cannot listen on " + address + " port " + std::to_string(port) +
                                            ": " + reason_of(error_number)};
    };
    const int family = parsed.value().address.any.sa_family;
    Descriptor listener(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener.open()) return fail(errno);
    const int on = 1;
    if (::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) return fail(errno);
    // "::" means IPv6 only, so that what an admin allows is what they wrote.
    if (family == AF_INET6 && ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) {
        return fail(errno);
    }
    if (::bind(listener.get(), &parsed.value().address.any, parsed.value().size) != 0) return fail(errno);
    if (::listen(listener.get(), backlog) != 0) return fail(errno);
    return listener;
}

Result<std::uint16_t> port_of(const Descriptor& listener) {
    Address address{};
    socklen_t size = sizeof(address);
    if (::getsockname(listener.get(), &address.any, &size) != 0) {
        return Error{Code::internal, "cannot read the port of a socket: " + reason_of(errno)};
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}

}  // namespace llmgw::http
