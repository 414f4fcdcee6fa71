// A listening socket.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::http {

// `address` is an IPv4 or IPv6 address, never a name. Port 0 takes any free one.
Result<Descriptor> listen_on(const std::string& address, std::uint16_t port);
Result<std::uint16_t> port_of(const Descriptor& listener);

}  // namespace llmgw::http
