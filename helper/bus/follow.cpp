#include "bus/follow.hpp"

#include <cerrno>
#include <map>
#include <optional>
#include <system_error>

#include "bus/bus_error.hpp"
#include "bus/connection.hpp"
#include "bus/job_objects.hpp"
#include "bus/manager.hpp"

namespace llmgw::bus {
namespace {

using Clock = std::chrono::steady_clock;

Error broken(const char* what, int result) {
    return {Code::unavailable,
            std::string("cannot ") + what + ": " + std::generic_category().message(-result)};
}

template <class... Arguments>
Result<std::uint32_t> start(const HelperAddress& helper, const std::string& method, const char* types,
                            Arguments... arguments) {
    Result<Connection> connection = open_connection(helper.bus);
    if (!connection) return connection.error();
    BusError error;
    sd_bus_message* raw = nullptr;
    if (::sd_bus_call_method(connection.value().get(), helper.name.c_str(), object_path, interface_name,
                             method.c_str(), &error.raw, &raw, types, arguments...) < 0) {
        return error_of(error, helper);
    }
    const Message reply(raw);
    const char* path = nullptr;
    if (::sd_bus_message_read(reply.get(), "o", &path) >= 0) {
        if (const std::optional<std::uint32_t> id = job_in(path)) return *id;
    }
    return Error{Code::invalid, "the helper's answer to " + method + " names no job"};
}

// One property; those that this version doesn't know are passed over.
int read_property(sd_bus_message* reply, Job& job) {
    const std::map<std::string, std::string*> texts{{"Kind", &job.kind},
                                                    {"State", &job.state},
                                                    {"Step", &job.step},
                                                    {"Note", &job.note},
                                                    {"Message", &job.message}};
    const std::map<std::string, std::uint32_t*> counts{{"StepNumber", &job.step_number},
                                                       {"StepCount", &job.step_count}};
    const std::map<std::string, std::uint64_t*> bytes{{"BytesDone", &job.bytes_done},
                                                      {"BytesTotal", &job.bytes_total}};
    const char* name = nullptr;
    int result = ::sd_bus_message_read(reply, "s", &name);
    if (result < 0) return result;
    if (const auto text = texts.find(name); text != texts.end()) {
        const char* value = nullptr;
        result = ::sd_bus_message_read(reply, "v", "s", &value);
        if (result >= 0) *text->second = value;
        return result;
    }
    if (const auto count = counts.find(name); count != counts.end()) {
        return ::sd_bus_message_read(reply, "v", "u", count->second);
    }
    if (const auto count = bytes.find(name); count != bytes.end()) {
        return ::sd_bus_message_read(reply, "v", "t", count->second);
    }
    return ::sd_bus_message_skip(reply, "v");
}

Result<Job> job_of(sd_bus* bus, const HelperAddress& helper, std::uint32_t id) {
    BusError error;
    sd_bus_message* raw = nullptr;
    if (::sd_bus_call_method(bus, helper.name.c_str(), job_path(id).c_str(),
                             "org.freedesktop.DBus.Properties", "GetAll", &error.raw, &raw, "s",
                             job_interface) < 0) {
        return error_of(error, helper);
    }
    const Message reply(raw);
    Job job;
    job.id = id;
    int result = ::sd_bus_message_enter_container(reply.get(), 'a', "{sv}");
    while (result >= 0 && (result = ::sd_bus_message_enter_container(reply.get(), 'e', "sv")) > 0) {
        result = read_property(reply.get(), job);
        if (result >= 0) result = ::sd_bus_message_exit_container(reply.get());
    }
    if (result < 0) return broken("read the helper's job", result);
    return job;
}

// The last job of a helper that was started again.
std::optional<std::uint32_t> last_job(sd_bus* bus, const HelperAddress& helper) {
    BusError error;
    sd_bus_message* raw = nullptr;
    if (::sd_bus_get_property(bus, helper.name.c_str(), object_path, interface_name, "Job", &error.raw, &raw,
                              "o") < 0)
        return std::nullopt;
    const Message reply(raw);
    const char* path = nullptr;
    return ::sd_bus_message_read(reply.get(), "o", &path) < 0 ? std::nullopt : job_in(path);
}

struct News {
    bool changed = false;
    bool owner_changed = false;
};

int on_signal(sd_bus_message*, void* data, sd_bus_error*) {
    static_cast<News*>(data)->changed = true;
    return 0;
}

int on_owner(sd_bus_message*, void* data, sd_bus_error*) {
    auto* news = static_cast<News*>(data);
    news->changed = news->owner_changed = true;
    return 0;
}

// Everything that the helper says, and its coming and going. `news` must outlive the connection.
Result<Connection> listen(const HelperAddress& helper, News& news) {
    Result<Connection> connection = open_connection(helper.bus);
    if (!connection) return connection;
    sd_bus* bus = connection.value().get();
    int result =
        ::sd_bus_match_signal(bus, nullptr, helper.name.c_str(), nullptr, nullptr, nullptr, on_signal, &news);
    if (result >= 0) {
        const std::string owner =
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" + helper.name +
            "'";
        result = ::sd_bus_add_match(bus, nullptr, owner.c_str(), on_owner, &news);
    }
    if (result < 0) return broken("listen to the helper", result);
    return connection;
}

// Until something came or the time is over.
Result<void> wait(sd_bus* bus, News& news, std::chrono::milliseconds most) {
    const Clock::time_point end = Clock::now() + most;
    while (!news.changed) {
        int result = ::sd_bus_process(bus, nullptr);
        if (result < 0) return broken("hear from the bus", result);
        if (result > 0) continue;
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now()).count();
        if (left <= 0) return {};
        result = ::sd_bus_wait(bus, static_cast<std::uint64_t>(left));
        if (result < 0 && result != -EINTR) return broken("wait for the bus", result);
    }
    return {};
}

}  // namespace

Result<std::uint32_t> start_job(const HelperAddress& helper, const std::string& method) {
    return start(helper, method, "");
}

Result<std::uint32_t> start_job(const HelperAddress& helper, const std::string& method, bool argument) {
    return start(helper, method, "b", argument ? 1 : 0);
}

Result<Job> read_job(const HelperAddress& helper, std::uint32_t id) {
    Result<Connection> connection = open_connection(helper.bus);
    if (!connection) return connection.error();
    return job_of(connection.value().get(), helper, id);
}

Result<Job> follow_job(const HelperAddress& helper, std::uint32_t id,
                       const std::function<void(const Job&)>& on_change, std::chrono::seconds patience) {
    constexpr std::chrono::seconds look_anyway{5};  // should a signal be lost
    News news;
    Result<Connection> connection = listen(helper, news);
    if (!connection) return connection.error();
    sd_bus* bus = connection.value().get();
    std::optional<Job> last;
    bool gone = false;
    Clock::time_point gone_since;
    const auto leave = [&] {
        if (!gone) gone_since = Clock::now();
        gone = true;
    };
    for (;;) {
        news = {};
        Result<Job> job = job_of(bus, helper, id);
        // Numbers begin anew in a helper that was started again: only what goes on from where the last one
        // was is it.
        const bool another = gone && last && (!job || job.value().kind != last->kind);
        if (another) {
            const std::optional<std::uint32_t> newest = last_job(bus, helper);
            if (newest && *newest != id) {
                id = *newest;
                continue;
            }
        }
        if (job && !another) {
            gone = false;
            if (!last || !(*last == job.value())) on_change(job.value());
            last = job.value();
            if (!last->running()) return *last;
        } else {
            if (!last) return job.error();
            leave();
            if (Clock::now() - gone_since > patience) {
                return Error{Code::unavailable,
                             "llmgw-slurm-helper ended in the middle of the work and did not come "
                             "back; see \"systemctl status llmgw-slurm-helper\""};
            }
        }
        const Result<void> heard = wait(bus, news, gone ? std::chrono::milliseconds(500) : look_anyway);
        if (!heard) return heard.error();
        if (news.owner_changed) leave();
    }
}

Result<void> watch_helper(const HelperAddress& helper, const std::function<bool()>& on_change) {
    constexpr std::chrono::seconds look_anyway{30};
    News news;
    Result<Connection> connection = listen(helper, news);
    if (!connection) return connection.error();
    while (on_change()) {
        news = {};
        const Result<void> heard = wait(connection.value().get(), news, look_anyway);
        if (!heard) return heard.error();
    }
    return {};
}

}  // namespace llmgw::bus
