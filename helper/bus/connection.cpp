#include "bus/connection.hpp"

#include <system_error>

namespace llmgw::bus {
namespace {

int open_at(sd_bus* bus, const std::string& address) {
    int result = ::sd_bus_set_address(bus, address.c_str());
    if (result >= 0) result = ::sd_bus_set_bus_client(bus, 1);
    if (result >= 0) result = ::sd_bus_start(bus);
    return result;
}

}  // namespace

Result<Connection> open_connection(const std::string& address) {
    sd_bus* raw = nullptr;
    int result = address.empty() ? ::sd_bus_open_system(&raw) : ::sd_bus_new(&raw);
    Connection connection(raw);
    if (result >= 0 && !address.empty()) result = open_at(connection.get(), address);
    if (result < 0) {
        return Error{Code::unavailable, "cannot reach the " +
                                            (address.empty() ? "system bus" : "bus at " + address) + ": " +
                                            std::generic_category().message(-result)};
    }
    return connection;
}

}  // namespace llmgw::bus
