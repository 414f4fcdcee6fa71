#include "bus/manager.hpp"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include "bus/callback.hpp"
#include "bus/caller.hpp"
#include "bus/connection.hpp"
#include "core/boundary.hpp"

namespace llmgw::bus {
namespace {

constexpr std::uint64_t no_flags = 0;

// Its members come with it, of whom a site may have thousands.
std::optional<gid_t> number_of(const char* name) {
    constexpr std::size_t largest = 4 * 1024 * 1024;
    for (std::size_t size = 16 * 1024; size <= largest; size *= 4) {
        std::vector<char> buffer(size);
        group entry{};
        group* found = nullptr;
        const int result = ::getgrnam_r(name, &entry, buffer.data(), buffer.size(), &found);
        if (result == 0 && found != nullptr) return found->gr_gid;
        if (result != ERANGE) break;
    }
    return std::nullopt;
}

// Denied unless the bus itself says that the caller is root or in our group.
bool may_act(sd_bus_message* message) {
    const Result<Caller> caller = caller_of(message);
    if (!caller) return false;
    if (caller.value().uid == 0 || caller.value().uid == ::geteuid()) return true;
    const std::optional<gid_t> admins = number_of(admin_group);
    const std::vector<gid_t>& groups = caller.value().groups;
    return admins && std::find(groups.begin(), groups.end(), *admins) != groups.end();
}

int deny(sd_bus_error* error) {
    return ::sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED,
                               "only root and members of the group %s may do this", admin_group);
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

// Calls that wait for their answer. sd-bus is for one thread, and answers travel through workers, which may
// be the last to drop a copy: so a copy holds a number and no message.
class Pending {
  public:
    std::uint64_t keep(sd_bus_message* message) {
        calls_.emplace(++last_, Message(::sd_bus_message_ref(message)));
        return last_;
    }
    void answer(std::uint64_t number, const Result<std::string>& result) {
        const auto call = calls_.extract(number);
        if (call.empty()) return;  // answered before
        sd_bus_message* message = call.mapped().get();
        if (result) {
            ::sd_bus_reply_method_return(message, "s", result.value().c_str());
        } else {
            ::sd_bus_reply_method_errorf(message, error_name(result.error().code), "%s",
                                         result.error().message.c_str());
        }
    }
    void drop(std::uint64_t number) { calls_.erase(number); }

  private:
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, Message> calls_;
};

struct Object {
    ManagerPort& port;
    std::shared_ptr<Pending> pending = std::make_shared<Pending>();
};

Object& object_of(void* data) {
    return *static_cast<Object*>(data);
}

enum class Who { everyone, admins };

// `body(port, answer)` returns a negative errno for arguments that it can't read.
template <class Body>
int handle(sd_bus_message* message, void* data, sd_bus_error* error, Who who, Body body) noexcept {
    Object& object = object_of(data);
    std::uint64_t number = 0;
    const auto report = [&](const char*, const char* what) {
        object.pending->drop(number);
        ::sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s", what);
    };
    return contained("method", -EIO, report, [&] {
        if (who == Who::admins && !may_act(message)) {
            return deny(error);
        }
        number = object.pending->keep(message);
        const int result = body(
            object.port, [pending = std::weak_ptr(object.pending), number](const Result<std::string>& said) {
                if (const std::shared_ptr<Pending> still = pending.lock()) still->answer(number, said);
            });
        if (result < 0) object.pending->drop(number);
        return result < 0 ? result : 1;
    });
}

Result<std::vector<std::string>> read_strings(sd_bus_message* message) {
    int result = ::sd_bus_message_enter_container(message, 'a', "s");
    std::vector<std::string> strings;
    const char* text = nullptr;
    while (result >= 0 && (result = ::sd_bus_message_read(message, "s", &text)) > 0)
        strings.emplace_back(text);
    if (result >= 0) result = ::sd_bus_message_exit_container(message);
    if (result < 0) return Error{Code::invalid, "a list of strings is wanted"};
    return strings;
}

int describe(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::everyone, [](ManagerPort& port, Answer<std::string> answer) {
        port.describe(std::move(answer));
        return 0;
    });
}

int set_containers(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [&](ManagerPort& port, Answer<std::string> answer) {
        int on = 0;
        const int result = ::sd_bus_message_read(message, "b", &on);
        if (result >= 0) port.set_containers(on != 0, std::move(answer));
        return result;
    });
}

int set_gate(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [&](ManagerPort& port, Answer<std::string> answer) {
        const char* mode = nullptr;
        const int result = ::sd_bus_message_read(message, "s", &mode);
        if (result >= 0) port.set_gate(mode, std::move(answer));
        return result;
    });
}

int recheck(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [](ManagerPort& port, Answer<std::string> answer) {
        port.recheck(std::move(answer));
        return 0;
    });
}

// Signature asasxs: nodes to lend, nodes to take back, a deadline for the latter (unix time; 0: none), what
// then.
int set_lent(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [&](ManagerPort& port, Answer<std::string> answer) {
        const Result<std::vector<std::string>> add = read_strings(message);
        const Result<std::vector<std::string>> remove = read_strings(message);
        std::int64_t deadline = 0;
        const char* then = nullptr;
        const int result = ::sd_bus_message_read(message, "xs", &deadline, &then);
        if (!add || !remove || result < 0) return -EINVAL;
        std::optional<Reclaim> reclaim;
        if (deadline != 0) reclaim = Reclaim{deadline, then};
        port.set_lent(add.value(), remove.value(), reclaim, std::move(answer));
        return 0;
    });
}

int set_fence(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [&](ManagerPort& port, Answer<std::string> answer) {
        const char* node = nullptr;
        int on = 0;
        const int result = ::sd_bus_message_read(message, "sb", &node, &on);
        if (result >= 0) port.set_fence(node, on != 0, std::move(answer));
        return result;
    });
}

int plan(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [](ManagerPort& port, Answer<std::string> answer) {
        port.plan(false, std::move(answer));
        return 0;
    });
}

int doctor(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle(message, data, error, Who::admins, [](ManagerPort& port, Answer<std::string> answer) {
        port.plan(true, std::move(answer));
        return 0;
    });
}

// Answers at once with the path of a job.
template <class Body>
int handle_job(sd_bus_message* message, void* data, sd_bus_error* error, Body body) noexcept {
    return in_callback(error, [&] {
        if (!may_act(message)) {
            return deny(error);
        }
        const Result<std::uint32_t> job = body(object_of(data).port);
        if (!job) return ::sd_bus_error_set(error, error_name(job.error().code), job.error().message.c_str());
        return ::sd_bus_reply_method_return(message, "o", job_path(job.value()).c_str());
    });
}

int apply(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle_job(message, data, error, [](ManagerPort& port) { return port.apply(); });
}

int uninstall(sd_bus_message* message, void* data, sd_bus_error* error) noexcept {
    return handle_job(message, data, error, [&](ManagerPort& port) -> Result<std::uint32_t> {
        int force = 0;
        if (::sd_bus_message_read(message, "b", &force) < 0)
            return Error{Code::invalid, "a boolean is wanted"};
        return port.uninstall(force != 0);
    });
}

// The last one, under way or ended.
int job_property(sd_bus*, const char*, const char*, const char*, sd_bus_message* reply, void* data,
                 sd_bus_error* error) noexcept {
    return in_callback(error, [&] {
        const std::vector<std::uint32_t> ids = object_of(data).port.jobs();
        return ::sd_bus_message_append(reply, "o", ids.empty() ? "/" : job_path(ids.back()).c_str());
    });
}

int property(sd_bus*, const char*, const char*, const char* name, sd_bus_message* reply, void* data,
             sd_bus_error* error) noexcept {
    return in_callback(error, [&] {
        const ManagerPort& port = object_of(data).port;
        const std::string wanted = name;
        const std::string value = wanted == "Machine"  ? port.machine()
                                  : wanted == "State"  ? port.state()
                                  : wanted == "Reason" ? port.reason()
                                                       : LLMGW_VERSION;
        return ::sd_bus_message_append(reply, "s", value.c_str());
    });
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
    SD_BUS_METHOD_WITH_ARGS("SetLent", SD_BUS_ARGS("as", lend, "as", reclaim, "x", deadline, "s", then),
                            SD_BUS_RESULT("s", message), set_lent, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("SetFence", SD_BUS_ARGS("s", node, "b", on), SD_BUS_RESULT("s", message),
                            set_fence, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Plan", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json), plan,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Doctor", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json), doctor,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Apply", SD_BUS_NO_ARGS, SD_BUS_RESULT("o", job), apply,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Uninstall", SD_BUS_ARGS("b", force), SD_BUS_RESULT("o", job), uninstall,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_ARGS("JobStarted", SD_BUS_ARGS("o", job), 0),
    SD_BUS_SIGNAL_WITH_ARGS("JobEnded", SD_BUS_ARGS("o", job, "s", state, "s", message), 0),
    SD_BUS_SIGNAL("StatusChanged", "", 0),
    SD_BUS_PROPERTY("Job", "o", job_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
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
    explicit State(ManagerPort& port) : object{port} {}
    ~State() { ::sd_bus_detach_event(connection.get()); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Connection connection;
    Object object;  // goes first, and with it the messages that hold on to the connection
};

Manager::Manager(std::unique_ptr<State> state) : state_(std::move(state)) {}
Manager::Manager(Manager&&) noexcept = default;
Manager& Manager::operator=(Manager&&) noexcept = default;
Manager::~Manager() = default;

Result<Manager> Manager::connect(const EventLoop& loop, const std::string& address, const std::string& name,
                                 ManagerPort& port) {
    Result<Connection> connection = open_connection(address);
    if (!connection) return connection.error();
    auto state = std::make_unique<State>(port);
    state->connection = std::move(connection).value();
    sd_bus* raw = state->connection.get();
    int result =
        ::sd_bus_add_object_vtable(raw, nullptr, object_path, interface_name, vtable, &state->object);
    if (result < 0) return failure("put an object on the bus", result);
    if (Result<void> added = add_job_objects(raw, port); !added) return added.error();
    result = ::sd_bus_attach_event(raw, loop.raw(), SD_EVENT_PRIORITY_NORMAL);
    if (result < 0) return failure("serve the bus", result);
    ::sd_bus_set_exit_on_disconnect(raw, 1);
    result = ::sd_bus_request_name(raw, name.c_str(), no_flags);
    if (result < 0) return failure("take the name " + name + " on the bus", result);
    return Manager(std::move(state));
}

void Manager::changed() {
    ::sd_bus_emit_properties_changed(state_->connection.get(), object_path, interface_name, "State", "Reason",
                                     nullptr);
}

void Manager::status_changed() {
    ::sd_bus_emit_signal(state_->connection.get(), object_path, interface_name, "StatusChanged", "");
}

void Manager::job_started(const Job& job) {
    sd_bus* bus = state_->connection.get();
    ::sd_bus_emit_signal(bus, object_path, interface_name, "JobStarted", "o", job_path(job.id).c_str());
    ::sd_bus_emit_properties_changed(bus, object_path, interface_name, "Job", nullptr);
}

void Manager::job_changed(const Job& job) {
    emit_job_changed(state_->connection.get(), job.id);
}

void Manager::job_ended(const Job& job) {
    sd_bus* bus = state_->connection.get();
    emit_job_changed(bus, job.id);
    ::sd_bus_emit_signal(bus, object_path, interface_name, "JobEnded", "oss", job_path(job.id).c_str(),
                         job.state.c_str(), job.message.c_str());
}

}  // namespace llmgw::bus
