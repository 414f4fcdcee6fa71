// What a call to the helper came back with, in words for people.
#pragma once

#include <systemd/sd-bus.h>

#include "bus/client.hpp"
#include "core/result.hpp"

namespace llmgw::bus {

struct BusError {
    sd_bus_error raw = SD_BUS_ERROR_NULL;
    BusError() = default;
    BusError(const BusError&) = delete;
    BusError& operator=(const BusError&) = delete;
    ~BusError() { ::sd_bus_error_free(&raw); }
};

Error error_of(const BusError& error, const HelperAddress& helper);

}  // namespace llmgw::bus
