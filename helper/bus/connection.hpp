// Owners of sd-bus's things, and how a bus is reached.
#pragma once

#include <systemd/sd-bus.h>

#include <memory>
#include <string>

#include "core/result.hpp"

namespace llmgw::bus {

struct ConnectionClose {
    void operator()(sd_bus* bus) const { ::sd_bus_flush_close_unref(bus); }
};
using Connection = std::unique_ptr<sd_bus, ConnectionClose>;

struct MessageUnref {
    void operator()(sd_bus_message* message) const { ::sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, MessageUnref>;

// `address` empty: the system bus, or where DBUS_SYSTEM_BUS_ADDRESS says it is.
Result<Connection> open_connection(const std::string& address);

}  // namespace llmgw::bus
