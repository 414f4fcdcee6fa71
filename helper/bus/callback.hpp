// The edge between sd-bus and our C++.
#pragma once

#include <systemd/sd-bus.h>

#include <cerrno>

#include "core/boundary.hpp"

namespace llmgw::bus {

// Runs the body of a callback; what is thrown becomes the error of the reply.
template <class Body>
int in_callback(sd_bus_error* error, Body body) noexcept {
    const auto report = [&](const char*, const char* what) {
        ::sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s", what);
    };
    return contained("callback", -EIO, report, body);
}

}  // namespace llmgw::bus
