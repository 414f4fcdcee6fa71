#include "bus/client.hpp"

#include "bus/bus_error.hpp"
#include "bus/connection.hpp"
#include "bus/manager.hpp"

namespace llmgw::bus {
namespace {

constexpr std::uint64_t deadline_us = 30'000'000;

template <class... Arguments>
Result<std::string> call(const HelperAddress& helper, const std::string& method, const char* types,
                         Arguments... arguments) {
    Result<Connection> connection = open_connection(helper.bus);
    if (!connection) return connection.error();
    sd_bus_message* raw = nullptr;
    if (::sd_bus_message_new_method_call(connection.value().get(), &raw, helper.name.c_str(), object_path,
                                         interface_name, method.c_str()) < 0) {
        return Error{Code::invalid, "\"" + helper.name + "\" is no name on a bus"};
    }
    const Message request(raw);
    if constexpr (sizeof...(Arguments) > 0) {
        if (::sd_bus_message_append(request.get(), types, arguments...) < 0) {
            return Error{Code::invalid, "cannot make the call " + method};
        }
    }
    BusError error;
    sd_bus_message* raw_reply = nullptr;
    if (::sd_bus_call(connection.value().get(), request.get(), deadline_us, &error.raw, &raw_reply) < 0) {
        return error_of(error, helper);
    }
    const Message reply(raw_reply);
    const char* text = nullptr;
    if (::sd_bus_message_read(reply.get(), "s", &text) < 0) {
        return Error{Code::invalid, "the helper's answer to " + method + " is of another kind"};
    }
    return std::string(text);
}

}  // namespace

Result<std::string> call_helper(const HelperAddress& helper, const std::string& method) {
    return call(helper, method, "");
}

Result<std::string> call_helper(const HelperAddress& helper, const std::string& method, bool argument) {
    return call(helper, method, "b", argument ? 1 : 0);
}

Result<std::string> call_helper(const HelperAddress& helper, const std::string& method,
                                const std::string& argument) {
    return call(helper, method, "s", argument.c_str());
}

}  // namespace llmgw::bus
