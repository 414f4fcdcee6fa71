#include "bus/job_objects.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "bus/callback.hpp"

namespace llmgw::bus {
namespace {

const Job* job_at(void* data, const char* path) {
    const std::optional<std::uint32_t> id = job_in(path);
    return id ? static_cast<JobSource*>(data)->job(*id) : nullptr;
}

int find(sd_bus*, const char* path, const char*, void* data, void** found, sd_bus_error* error) noexcept {
    return in_callback(error, [&] {
        *found = data;
        return job_at(data, path) == nullptr ? 0 : 1;
    });
}

int append(sd_bus_message* reply, const std::string& name, const Job& job) {
    if (name == "Kind") return ::sd_bus_message_append(reply, "s", job.kind.c_str());
    if (name == "State") return ::sd_bus_message_append(reply, "s", job.state.c_str());
    if (name == "Step") return ::sd_bus_message_append(reply, "s", job.step.c_str());
    if (name == "StepNumber") return ::sd_bus_message_append(reply, "u", job.step_number);
    if (name == "StepCount") return ::sd_bus_message_append(reply, "u", job.step_count);
    if (name == "BytesDone") return ::sd_bus_message_append(reply, "t", job.bytes_done);
    if (name == "BytesTotal") return ::sd_bus_message_append(reply, "t", job.bytes_total);
    if (name == "Note") return ::sd_bus_message_append(reply, "s", job.note.c_str());
    return ::sd_bus_message_append(reply, "s", job.message.c_str());
}

int property(sd_bus*, const char* path, const char*, const char* name, sd_bus_message* reply, void* data,
             sd_bus_error* error) noexcept {
    return in_callback(error, [&] {
        const Job* job = job_at(data, path);
        return job == nullptr ? -ENOENT : append(reply, name, *job);
    });
}

// sd-bus frees the list and its texts with free().
int enumerate(sd_bus*, const char*, void* data, char*** nodes, sd_bus_error* error) noexcept {
    return in_callback(error, [&] {
        const std::vector<std::uint32_t> ids = static_cast<JobSource*>(data)->jobs();
        auto** list = static_cast<char**>(std::calloc(ids.size() + 1, sizeof(char*)));
        if (list == nullptr) return -ENOMEM;
        for (std::size_t i = 0; i < ids.size(); ++i) list[i] = ::strdup(job_path(ids[i]).c_str());
        *nodes = list;
        return 0;
    });
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_PROPERTY("Kind", "s", property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("State", "s", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Step", "s", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("StepNumber", "u", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("StepCount", "u", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("BytesDone", "t", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("BytesTotal", "t", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Note", "s", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Message", "s", property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_VTABLE_END};
#pragma GCC diagnostic pop

Error failure(const std::string& what, int result) {
    return {Code::unavailable, "cannot " + what + ": " + std::generic_category().message(-result)};
}

}  // namespace

std::string job_path(std::uint32_t id) {
    return std::string(jobs_path) + "/" + std::to_string(id);
}

std::optional<std::uint32_t> job_in(const std::string& path) {
    const std::string prefix = std::string(jobs_path) + "/";
    if (!path.starts_with(prefix)) return std::nullopt;
    std::uint32_t id = 0;
    const char* begin = path.data() + prefix.size();
    const char* end = path.data() + path.size();
    const std::from_chars_result read = std::from_chars(begin, end, id);
    if (read.ec != std::errc{} || read.ptr != end || job_path(id) != path) return std::nullopt;
    return id;
}

Result<void> add_job_objects(sd_bus* bus, JobSource& source) {
    int result = ::sd_bus_add_fallback_vtable(bus, nullptr, jobs_path, job_interface, vtable, find, &source);
    if (result < 0) return failure("put jobs on the bus", result);
    result = ::sd_bus_add_node_enumerator(bus, nullptr, jobs_path, enumerate, &source);
    if (result < 0) return failure("list jobs on the bus", result);
    return {};
}

void emit_job_changed(sd_bus* bus, std::uint32_t id) {
    ::sd_bus_emit_properties_changed(bus, job_path(id).c_str(), job_interface, "State", "Step", "StepNumber",
                                     "StepCount", "BytesDone", "BytesTotal", "Note", "Message", nullptr);
}

}  // namespace llmgw::bus
