#include "bus/manager.hpp"

#include <grp.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "bus/connection.hpp"
#include "core/boundary.hpp"

namespace llmgw::bus {
namespace {

constexpr std::uint64_t no_flags = 0;

// Denied unless the bus itself says that the caller is root or in our group. PIDs are not looked at: by the
// time one is looked up it can be another process.
bool may_act(sd_bus_message* message) {
    sd_bus_creds* raw = nullptr;
    if (::sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID | SD_BUS_CREDS_SUPPLEMENTARY_GIDS, &raw) < 0) {
        return false;
    }
    const Credentials credentials(raw);
    uid_t uid = 65534;
    if (::sd_bus_creds_get_euid(credentials.get(), &uid) < 0) return false;
    if (uid == 0 || uid == ::geteuid()) return true;
    std::vector<char> buffer(16 * 1024);
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r(admin_group, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
        return false;
    }
    const gid_t* gids = nullptr;
    const int count = ::sd_bus_creds_get_supplementary_gids(credentials.get(), &gids);
    for (int i = 0; i < count; ++i) {
        if (gids[i] == found->gr_gid) return true;
    }
    return false;
}

const char* error_name(Code code) {
    switch (code) {
        case Code::invalid:
            return SD_BUS_ERROR_INVALID_ARGS;
        case Code::denied:
            return SD_BUS_ERROR_ACCESS_DENIED;
        case Code::timeout:
            return SD_BUS_ERROR_TIMEOUT;
        default:
            return SD_BUS_ERROR_FAILED;
    }
}

// Holds the message until it is answered.
Answer<std::string> answer_to(sd_bus_message* message) {
    const std::shared_ptr<sd_bus_message> held(::sd_bus_message_ref(message), ::sd_bus_message_unref);
    return [held](const Result<std::string>& result) {
        if (result) {
            ::sd_bus_reply_method_return(held.get(), "s", result.value().c_str());
        } else {
            ::sd_bus_reply_method_errorf(held.get(), error_name(result.error().code), "%s",
                                         result.error().message.c_str());
        }
    };
}

enum class Who { everyone, admins };

template <class Body>
int handle(sd_bus_message* message, sd_bus_error* error, Who who, Body body) noexcept {
    const auto report = [&](const char*, const char* what) {
        ::sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s", what);
    };
    return contained("method", -EIO, report, [&] {
        if (who == Who::admins && !may_act(message)) {
            return ::sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED,
                                       "only root and members of the group %s may do this", admin_group);
        }
        const int result = body(answer_to(message));
        return result < 0 ? result : 1;
    });
}

ManagerPort& port_of(void* data) {
    return *static_cast<ManagerPort*>(data);
}

int describe(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, error, Who::everyone, [&](Answer<std::string> answer) {
        port_of(data).describe(std::move(answer));
        return 0;
    });
}

int set_containers(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, error, Who::admins, [&](Answer<std::string> answer) {
        int on = 0;
        const int result = ::sd_bus_message_read(message, "b", &on);
        if (result >= 0) port_of(data).set_containers(on != 0, std::move(answer));
        return result;
    });
}

int set_gate(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, error, Who::admins, [&](Answer<std::string> answer) {
        const char* mode = nullptr;
        const int result = ::sd_bus_message_read(message, "s", &mode);
        if (result >= 0) port_of(data).set_gate(mode, std::move(answer));
        return result;
    });
}

int recheck(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, error, Who::admins, [&](Answer<std::string> answer) {
        port_of(data).recheck(std::move(answer));
        return 0;
    });
}

int property(sd_bus*, const char*, const char*, const char* name, sd_bus_message* reply, void* data,
             sd_bus_error*) noexcept {
    const ManagerPort& port = port_of(data);
    const std::string wanted = name;
    const std::string value = wanted == "Machine"  ? port.machine()
                              : wanted == "State"  ? port.state()
                              : wanted == "Reason" ? port.reason()
                                                   : LLMGW_VERSION;
    return ::sd_bus_message_append(reply, "s", value.c_str());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json), describe,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("SetContainers", SD_BUS_ARGS("b", on), SD_BUS_RESULT("s", message),
                            set_containers, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("SetGate", SD_BUS_ARGS("s", mode), SD_BUS_RESULT("s", message), set_gate,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Recheck", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", message), recheck,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("Version", "s", property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Machine", "s", property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("State", "s", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Reason", "s", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_VTABLE_END};
#pragma GCC diagnostic pop

Error failure(const std::string& what, int result) {
    return {result == -EEXIST ? Code::conflict : Code::unavailable,
            "cannot " + what + ": " + std::generic_category().message(-result)};
}

}  // namespace

struct Manager::State {
    Connection connection;
};

Manager::Manager(std::unique_ptr<State> state) : state_(std::move(state)) {}
Manager::Manager(Manager&&) noexcept = default;
Manager& Manager::operator=(Manager&&) noexcept = default;
Manager::~Manager() = default;

Result<Manager> Manager::connect(const EventLoop& loop, const std::string& address, const std::string& name,
                                 ManagerPort& port) {
    Result<Connection> connection = open_connection(address);
    if (!connection) return connection.error();
    sd_bus* raw = connection.value().get();
    int result = ::sd_bus_add_object_vtable(raw, nullptr, object_path, interface_name, vtable, &port);
    if (result < 0) return failure("put an object on the bus", result);
    result = ::sd_bus_attach_event(raw, loop.raw(), SD_EVENT_PRIORITY_NORMAL);
    if (result < 0) return failure("serve the bus", result);
    ::sd_bus_set_exit_on_disconnect(raw, 1);
    result = ::sd_bus_request_name(raw, name.c_str(), no_flags);
    if (result < 0) return failure("take the name " + name + " on the bus", result);
    auto state = std::make_unique<State>();
    state->connection = std::move(connection).value();
    return Manager(std::move(state));
}

void Manager::changed() {
    ::sd_bus_emit_properties_changed(state_->connection.get(), object_path, interface_name, "State", "Reason",
                                     nullptr);
}

}  // namespace llmgw::bus
