#include "bus/client.hpp"

#include "bus/bus_error.hpp"
#include "bus/connection.hpp"
#include "bus/manager.hpp"

namespace llmgw::bus {
namespace {

constexpr std::uint64_t deadline_us = 30'000'000;

// `fill(request)` returns a negative errno.
template <class Fill>
Result<std::string> call(const HelperAddress& helper, const std::string& method, Fill fill) {
    Result<Connection> connection = open_connection(helper.bus);
    if (!connection) return connection.error();
    sd_bus_message* raw = nullptr;
    if (::sd_bus_message_new_method_call(connection.value().get(), &raw, helper.name.c_str(), object_path,
                                         interface_name, method.c_str()) < 0) {
        return Error{Code::invalid, "\"" + helper.name + "\" is no name on a bus"};
    }
    const Message request(raw);
    if (fill(request.get()) < 0) return Error{Code::invalid, "cannot make the call " + method};
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

int append_strings(sd_bus_message* message, const std::vector<std::string>& strings) {
    int result = ::sd_bus_message_open_container(message, 'a', "s");
    for (const std::string& text : strings) {
        if (result >= 0) result = ::sd_bus_message_append(message, "s", text.c_str());
    }
    return result < 0 ? result : ::sd_bus_message_close_container(message);
}

}  // namespace

Result<std::string> call_helper(const HelperAddress& helper, const std::string& method) {
    return call(helper, method, [](sd_bus_message*) { return 0; });
}

Result<std::string> call_helper(const HelperAddress& helper, const std::string& method, bool argument) {
    return call(helper, method, [&](sd_bus_message* message) {
        return ::sd_bus_message_append(message, "b", argument ? 1 : 0);
    });
}

Result<std::string> call_helper(const HelperAddress& helper, const std::string& method,
                                const std::string& argument) {
    return call(helper, method, [&](sd_bus_message* message) {
        return ::sd_bus_message_append(message, "s", argument.c_str());
    });
}

Result<std::string> call_set_lent(const HelperAddress& helper, const std::vector<std::string>& add,
                                  const std::vector<std::string>& remove,
                                  const std::optional<Reclaim>& reclaim) {
    return call(helper, "SetLent", [&](sd_bus_message* message) {
        const Reclaim what = reclaim.value_or(Reclaim{});
        for (const std::vector<std::string>* list : {&add, &remove}) {
            if (const int result = append_strings(message, *list); result < 0) return result;
        }
        return ::sd_bus_message_append(message, "xs", what.deadline, what.then.c_str());
    });
}

Result<std::string> call_set_fence(const HelperAddress& helper, const std::string& node, bool on) {
    return call(helper, "SetFence", [&](sd_bus_message* message) {
        return ::sd_bus_message_append(message, "sb", node.c_str(), on ? 1 : 0);
    });
}

}  // namespace llmgw::bus
