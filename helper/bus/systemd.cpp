#include "bus/systemd.hpp"

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "bus/bus_error.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"

namespace llmgw::bus {
namespace {

constexpr const char* service = "org.freedesktop.systemd1";
constexpr const char* manager_path = "/org/freedesktop/systemd1";
constexpr const char* manager_interface = "org.freedesktop.systemd1.Manager";
constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";
constexpr const char* service_interface = "org.freedesktop.systemd1.Service";

struct Free {
    void operator()(void* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, Free>;

std::uint64_t answer_us() {
    return static_cast<std::uint64_t>(std::chrono::microseconds(limits::systemd_answer).count());
}

Error failure(const std::string& what, const BusError& error, int result) {
    const Code code = ::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_ACCESS_DENIED) != 0 ? Code::denied
                      : ::sd_bus_error_has_name(&error.raw, SD_BUS_ERROR_INVALID_ARGS) != 0
                          ? Code::invalid
                          : Code::unavailable;
    const std::string why = error.raw.message != nullptr ? printable(error.raw.message)
                                                         : std::generic_category().message(-result);
    return {code, "systemd: cannot " + what + ": " + why};
}

int append_strings(sd_bus_message* message, const std::vector<std::string>& texts) {
    int result = ::sd_bus_message_open_container(message, 'a', "s");
    for (const std::string& text : texts) {
        if (result >= 0) result = ::sd_bus_message_append(message, "s", text.c_str());
    }
    return result < 0 ? result : ::sd_bus_message_close_container(message);
}

struct Append {
    sd_bus_message* message;
    int output;

    int operator()(bool value) const { return ::sd_bus_message_append(message, "v", "b", value ? 1 : 0); }
    int operator()(std::uint32_t value) const { return ::sd_bus_message_append(message, "v", "u", value); }
    int operator()(std::uint64_t value) const { return ::sd_bus_message_append(message, "v", "t", value); }
    int operator()(const std::string& value) const {
        return ::sd_bus_message_append(message, "v", "s", value.c_str());
    }
    int operator()(const OutputFile&) const { return ::sd_bus_message_append(message, "v", "h", output); }
    int operator()(const std::vector<std::string>& value) const {
        int result = ::sd_bus_message_open_container(message, 'v', "as");
        if (result >= 0) result = append_strings(message, value);
        return result < 0 ? result : ::sd_bus_message_close_container(message);
    }
    int operator()(const ExecStart& value) const {
        int result = ::sd_bus_message_open_container(message, 'v', "a(sasb)");
        if (result >= 0) result = ::sd_bus_message_open_container(message, 'a', "(sasb)");
        if (result >= 0) result = ::sd_bus_message_open_container(message, 'r', "sasb");
        if (result >= 0) result = ::sd_bus_message_append(message, "s", value.path.c_str());
        if (result >= 0) result = append_strings(message, value.argv);
        // A failure counts.
        if (result >= 0) result = ::sd_bus_message_append(message, "b", 0);
        for (int depth = 0; depth < 3 && result >= 0; ++depth) {
            result = ::sd_bus_message_close_container(message);
        }
        return result;
    }
};

int append_properties(sd_bus_message* message, const std::vector<UnitProperty>& properties, int output) {
    int result = ::sd_bus_message_open_container(message, 'a', "(sv)");
    for (const UnitProperty& property : properties) {
        if (result >= 0) result = ::sd_bus_message_open_container(message, 'r', "sv");
        if (result >= 0) result = ::sd_bus_message_append(message, "s", property.name.c_str());
        if (result >= 0) result = std::visit(Append{message, output}, property.value);
        if (result >= 0) result = ::sd_bus_message_close_container(message);
    }
    if (result >= 0) result = ::sd_bus_message_close_container(message);
    // No units besides it.
    return result < 0 ? result : ::sd_bus_message_append(message, "a(sa(sv))", 0);
}

Result<std::string> text_property(sd_bus* bus, const std::string& path, const char* interface,
                                  const char* name) {
    BusError error;
    char* raw = nullptr;
    const int result =
        ::sd_bus_get_property_string(bus, service, path.c_str(), interface, name, &error.raw, &raw);
    const Text text(raw);
    if (result < 0) return failure(std::string("ask for ") + name, error, result);
    return std::string(text.get());
}

Result<std::int32_t> number_property(sd_bus* bus, const std::string& path, const char* name) {
    BusError error;
    std::int32_t number = 0;
    const int result = ::sd_bus_get_property_trivial(bus, service, path.c_str(), service_interface, name,
                                                     &error.raw, 'i', &number);
    if (result < 0) return failure(std::string("ask for ") + name, error, result);
    return number;
}

// Only its coming counts: it wakes wait().
int ignore(sd_bus_message*, void*, sd_bus_error*) {
    return 0;
}

}  // namespace

Result<Systemd> Systemd::connect(const std::string& bus_address, const std::string& unit) {
    Result<Connection> bus = open_connection(bus_address);
    if (!bus) return bus.error();
    char* raw = nullptr;
    if (::sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &raw) < 0) {
        return Error{Code::invalid, shown(unit) + " is no name of a unit"};
    }
    const Text path(raw);
    Systemd systemd(std::move(bus).value(), unit, path.get());
    sd_bus* connection = systemd.bus_.get();
    ::sd_bus_set_method_call_timeout(connection, answer_us());
    // Without subscribers systemd sends no signals on the bus.
    BusError error;
    int result = ::sd_bus_call_method(connection, service, manager_path, manager_interface, "Subscribe",
                                      &error.raw, nullptr, nullptr);
    if (result >= 0) {
        const std::string rule = std::string("type='signal',sender='") + service +
                                 "',interface='org.freedesktop.DBus.Properties',"
                                 "member='PropertiesChanged',path='" +
                                 systemd.path_ + "'";
        result = ::sd_bus_add_match(connection, nullptr, rule.c_str(), ignore, nullptr);
    }
    if (result < 0) return failure("watch units", error, result);
    return systemd;
}

Result<ManagerFacts> Systemd::facts() const {
    const Result<std::string> version = text_property(bus_.get(), manager_path, manager_interface, "Version");
    if (!version) return version.error();
    BusError error;
    char** raw = nullptr;
    const int result = ::sd_bus_get_property_strv(bus_.get(), service, manager_path, manager_interface,
                                                  "Environment", &error.raw, &raw);
    if (result < 0) return failure("ask for its environment", error, result);
    ManagerFacts facts{systemd_version(version.value()), {}};
    for (char** entry = raw; entry != nullptr && *entry != nullptr; ++entry) {
        const Text text(*entry);
        facts.environment.emplace_back(text.get());
    }
    std::free(raw);
    return facts;
}

Result<Systemd::Start> Systemd::start(const std::vector<UnitProperty>& properties, int output) {
    sd_bus_message* raw = nullptr;
    int result = ::sd_bus_message_new_method_call(bus_.get(), &raw, service, manager_path, manager_interface,
                                                  "StartTransientUnit");
    const Message request(raw);
    if (result >= 0) result = ::sd_bus_message_append(request.get(), "ss", unit_.c_str(), "fail");
    if (result >= 0) result = append_properties(request.get(), properties, output);
    BusError error;
    if (result >= 0) result = ::sd_bus_call(bus_.get(), request.get(), answer_us(), &error.raw, nullptr);
    if (result >= 0) return Start::started;
    if (::sd_bus_error_has_name(&error.raw, "org.freedesktop.systemd1.UnitExists") != 0) return Start::exists;
    return failure("start " + unit_, error, result);
}

Result<Systemd::State> Systemd::state() const {
    BusError error;
    sd_bus_message* raw = nullptr;
    int result = ::sd_bus_get_property(bus_.get(), service, path_.c_str(), unit_interface, "Job", &error.raw,
                                       &raw, "(uo)");
    const Message reply(raw);
    std::uint32_t job = 0;
    if (result >= 0) result = ::sd_bus_message_read(reply.get(), "(uo)", &job, nullptr);
    if (result < 0) return failure("ask for the state of " + unit_, error, result);
    // After the job: a unit whose job has ended doesn't become inactive for lack of one.
    const Result<std::string> active = text_property(bus_.get(), path_, unit_interface, "ActiveState");
    if (!active) return active.error();
    const bool failed = active.value() == "failed";
    return State{job != 0, !failed && active.value() != "inactive", failed};
}

Result<UnitEnd> Systemd::end() const {
    const Result<std::string> how = text_property(bus_.get(), path_, service_interface, "Result");
    const Result<std::int32_t> code = number_property(bus_.get(), path_, "ExecMainCode");
    const Result<std::int32_t> status = number_property(bus_.get(), path_, "ExecMainStatus");
    if (!how) return how.error();
    if (!code) return code.error();
    if (!status) return status.error();
    return UnitEnd{how.value(), code.value(), status.value()};
}

void Systemd::forget_failure() {
    ::sd_bus_call_method(bus_.get(), service, manager_path, manager_interface, "ResetFailedUnit", nullptr,
                         nullptr, "s", unit_.c_str());
}

Result<bool> Systemd::wait(int other, std::chrono::milliseconds most) {
    const auto gone = [](int result) {
        return Error{Code::unavailable,
                     "the connection to the bus is gone: " + std::generic_category().message(-result)};
    };
    pollfd waiting[] = {{::sd_bus_get_fd(bus_.get()), POLLIN, 0}, {other, POLLIN, 0}};
    ::poll(waiting, 2, static_cast<int>(most.count()));
    bool came = false;
    for (;; came = true) {
        const int result = ::sd_bus_process(bus_.get(), nullptr);
        if (result < 0) return gone(result);
        if (result == 0) break;
    }
    if (::sd_bus_is_open(bus_.get()) <= 0) return gone(-ENOTCONN);
    return came;
}

bool systemd_is_on(const std::string& bus_address) {
    const Result<Connection> bus = open_connection(bus_address);
    if (!bus) return true;
    BusError error;
    sd_bus_message* raw = nullptr;
    const int result =
        ::sd_bus_call_method(bus.value().get(), "org.freedesktop.DBus", "/org/freedesktop/DBus",
                             "org.freedesktop.DBus", "NameHasOwner", &error.raw, &raw, "s", service);
    const Message reply(raw);
    int has = 1;
    return result < 0 || ::sd_bus_message_read(reply.get(), "b", &has) < 0 || has != 0;
}

}  // namespace llmgw::bus
