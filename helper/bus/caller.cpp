#include "bus/caller.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "bus/connection.hpp"

namespace llmgw::bus {
namespace {

constexpr std::uint64_t deadline_us = 5'000'000;

Error failure(int result) {
    return {Code::unavailable,
            "the bus does not say who calls: " + std::generic_category().message(result < 0 ? -result : 0)};
}

// One entry's value, in a variant. Negative errno.
int read_uid(sd_bus_message* reply, std::optional<uid_t>& uid) {
    std::uint32_t number = 0;
    const int result = ::sd_bus_message_read(reply, "v", "u", &number);
    if (result >= 0) uid = number;
    return result;
}

int read_groups(sd_bus_message* reply, std::vector<gid_t>& groups) {
    int result = ::sd_bus_message_enter_container(reply, 'v', "au");
    if (result < 0) return result;
    const void* numbers = nullptr;
    std::size_t bytes = 0;
    result = ::sd_bus_message_read_array(reply, 'u', &numbers, &bytes);
    if (result < 0) return result;
    const auto* first = static_cast<const std::uint32_t*>(numbers);
    groups.assign(first, first + bytes / sizeof(std::uint32_t));
    return ::sd_bus_message_exit_container(reply);
}

int read_credentials(sd_bus_message* reply, std::optional<uid_t>& uid, std::vector<gid_t>& groups) {
    int result = ::sd_bus_message_enter_container(reply, 'a', "{sv}");
    if (result < 0) return result;
    while ((result = ::sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
        const char* name = nullptr;
        result = ::sd_bus_message_read(reply, "s", &name);
        if (result < 0) return result;
        const std::string_view key = name;
        result = key == "UnixUserID"     ? read_uid(reply, uid)
                 : key == "UnixGroupIDs" ? read_groups(reply, groups)
                                         : ::sd_bus_message_skip(reply, "v");
        if (result < 0) return result;
        result = ::sd_bus_message_exit_container(reply);
        if (result < 0) return result;
    }
    return result;
}

}  // namespace

Result<Caller> caller_of(sd_bus_message* message) {
    const char* sender = ::sd_bus_message_get_sender(message);
    if (sender == nullptr) return Error{Code::denied, "the call has no sender"};
    sd_bus* bus = ::sd_bus_message_get_bus(message);
    sd_bus_message* raw = nullptr;
    int result = ::sd_bus_message_new_method_call(bus, &raw, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                  "org.freedesktop.DBus", "GetConnectionCredentials");
    const Message question(raw);
    if (result >= 0) result = ::sd_bus_message_append(question.get(), "s", sender);
    if (result < 0) return failure(result);
    sd_bus_message* raw_reply = nullptr;
    result = ::sd_bus_call(bus, question.get(), deadline_us, nullptr, &raw_reply);
    const Message reply(raw_reply);
    if (result < 0) return failure(result);
    std::optional<uid_t> uid;
    Caller caller;
    result = read_credentials(reply.get(), uid, caller.groups);
    if (result < 0) return failure(result);
    if (!uid) return Error{Code::denied, "the bus does not say which user calls"};
    caller.uid = *uid;
    return caller;
}

}  // namespace llmgw::bus
