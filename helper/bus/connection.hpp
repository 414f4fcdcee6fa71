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

struct CallError {
    sd_bus_error raw = SD_BUS_ERROR_NULL;
    CallError() = default;
    CallError(const CallError&) = delete;
    CallError& operator=(const CallError&) = delete;
    ~CallError() { ::sd_bus_error_free(&raw); }
};

// `address` empty: the system bus, or where DBUS_SYSTEM_BUS_ADDRESS says it is.
Result<Connection> open_connection(const std::string& address);

}  // namespace llmgw::bus
