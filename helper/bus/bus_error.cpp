#include "bus/bus_error.hpp"

#include <string>

#include "bus/manager.hpp"

namespace llmgw::bus {

Error error_of(const BusError& error, const HelperAddress& helper) {
    const std::string text = error.raw.message == nullptr ? "no answer" : error.raw.message;
    if (::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
        ::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
        return {Code::unavailable, "llmgw-slurm-helper is not running on this machine (nobody has the name " +
                                       helper.name +
                                       " on the bus); see \"systemctl status llmgw-slurm-helper\""};
    }
    if (::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_ACCESS_DENIED)) {
        // The bus's own words are about its policy's rules; the helper's say who denies what.
        if (!text.starts_with("Rejected send message")) return {Code::denied, text};
        return {Code::denied,
                std::string("only root and members of the group ") + admin_group + " may do this"};
    }
    if (::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_NO_REPLY) ||
        ::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_TIMEOUT)) {
        return {Code::timeout, text};
    }
    if (::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_INVALID_ARGS)) return {Code::invalid, text};
    return {Code::internal, text};
}

}  // namespace llmgw::bus
