#include "json/report_json.hpp"

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "json/members.hpp"

namespace llmgw::json {
namespace {

Result<std::map<std::string, std::string>> versions_at(const Value& object) {
    const Value* const value = object.find("versions");
    const Value::Object* const members = value == nullptr ? nullptr : value->object();
    if (members == nullptr) return wrong("versions", value, "an object");
    std::map<std::string, std::string> versions;
    for (const auto& [what, version] : *members) {
        if (version.text() == nullptr) return wrong("versions." + printable(what), &version, "text");
        versions.emplace(what, *version.text());
    }
    return versions;
}

struct Count {
    const char* key;
    std::uint32_t NodeHardware::*field;
};
constexpr Count counts[] = {{"cpus", &NodeHardware::cpus},
                            {"boards", &NodeHardware::boards},
                            {"sockets_per_board", &NodeHardware::sockets_per_board},
                            {"cores_per_socket", &NodeHardware::cores_per_socket},
                            {"threads_per_core", &NodeHardware::threads_per_core}};

Result<std::uint32_t> count_of(const Value* value, const std::string& key) {
    const std::int64_t* const number = value == nullptr ? nullptr : value->integer();
    if (number == nullptr || *number < 0 || *number > limits::hardware_count)
        return wrong("hardware." + key, value, "a number of them");
    return static_cast<std::uint32_t>(*number);
}

Result<NodeHardware> hardware_of(const Value& value) {
    NodeHardware hardware;
    for (const Count& count : counts) {
        const Result<std::uint32_t> number = count_of(value.find(count.key), count.key);
        if (!number) return number.error();
        hardware.*count.field = number.value();
    }
    const Result<std::int64_t> memory = integer_at(value, "memory_mb");
    if (!memory) return memory.error().within("hardware");
    hardware.memory_mb = memory.value() < 0 ? 0 : static_cast<std::uint64_t>(memory.value());
    const Value* const gpus = value.find("gpus");
    if (gpus == nullptr || gpus->array() == nullptr) return wrong("hardware.gpus", gpus, "a list");
    for (const Value& gpu : *gpus->array()) {
        const Result<std::uint32_t> number = count_of(&gpu, "gpus");
        if (!number) return number.error();
        hardware.gpus.push_back(number.value());
    }
    return hardware;
}

Value value_of(const NodeHardware& hardware) {
    Value gpus{Value::Array{}};
    for (const std::uint32_t gpu : hardware.gpus) gpus.add(std::int64_t{gpu});
    Value value;
    for (const Count& count : counts) value.set(count.key, std::int64_t{hardware.*count.field});
    value.set("memory_mb", hardware.memory_mb).set("gpus", gpus);
    return value;
}

Result<LendingReport> lending_of(const Value& value) {
    LendingReport lending;
    Result<std::string> phase = text_at(value, "phase");
    if (!phase) return phase.error().within("lending");
    lending.phase = std::move(phase).value();
    const Result<std::uint64_t> generation = count_at(value, "generation");
    if (!generation) return generation.error().within("lending");
    lending.generation = generation.value();
    const Result<std::int64_t> since = integer_at(value, "since");
    if (!since) return since.error().within("lending");
    lending.since = since.value();
    const Value* const waiting = value.find("waiting");
    if (waiting == nullptr || waiting->array() == nullptr) return wrong("lending.waiting", waiting, "a list");
    for (const Value& what : *waiting->array()) {
        if (what.text() == nullptr) return wrong("lending.waiting", &what, "text");
        lending.waiting.push_back(*what.text());
    }
    const Value* const fence = value.find("fence");
    if (fence == nullptr || fence->boolean() == nullptr)
        return wrong("lending.fence", fence, "true or false");
    lending.fence = *fence->boolean();
    return lending;
}

Result<MachineReport> report_of(const Value& value) {
    if (value.object() == nullptr)
        return Error{Code::invalid, "a report is an object, found " + described(value)};
    MachineReport report;
    for (const auto& [key, field] : {std::pair{"name", &report.name}, std::pair{"reason", &report.reason},
                                     std::pair{"boot", &report.boot}, std::pair{"helper", &report.helper}}) {
        Result<std::string> text = text_at(value, key);
        if (!text) return text.error();
        *field = std::move(text).value();
    }
    const Result<std::string> state = text_at(value, "state");
    if (!state) return state.error();
    if (state.value() != "ready" && state.value() != "not-ready") {
        return wrong("state", value.find("state"), "\"ready\" or \"not-ready\"");
    }
    report.ready = state.value() == "ready";
    Result<std::map<std::string, std::string>> versions = versions_at(value);
    if (!versions) return versions.error();
    report.versions = std::move(versions).value();
    // Helpers of before don't say it.
    if (value.find("users") != nullptr) {
        Result<std::string> users = text_at(value, "users");
        if (!users) return users.error();
        report.users = std::move(users).value();
    }
    if (const Value* const hardware = value.find("hardware"); hardware != nullptr) {
        Result<NodeHardware> read = hardware_of(*hardware);
        if (!read) return read.error();
        report.hardware = std::move(read).value();
    }
    if (const Value* const lending = value.find("lending"); lending != nullptr) {
        Result<LendingReport> read = lending_of(*lending);
        if (!read) return read.error();
        report.lending = std::move(read).value();
    }
    if (Result<void> good = check_report(report); !good) return good.error();
    return report;
}

}  // namespace

Value value_of(const LendingReport& lending) {
    Value waiting{Value::Array{}};
    for (const std::string& what : lending.waiting) waiting.add(what);
    Value value;
    value.set("phase", lending.phase).set("generation", lending.generation).set("since", lending.since);
    value.set("waiting", waiting).set("fence", lending.fence);
    return value;
}

Result<MachineReport> read_report(std::string_view text) {
    const Result<Value> value = parse(text, {limits::report_bytes, limits::json_depth});
    if (!value) return value.error();
    return report_of(value.value());
}

std::string text_of(const MachineReport& report) {
    Value versions{Value::Object{}};
    for (const auto& [what, version] : report.versions) versions.set(what, version);
    Value value;
    value.set("name", report.name);
    value.set("state", report.ready ? "ready" : "not-ready");
    value.set("reason", report.reason);
    value.set("versions", versions);
    value.set("boot", report.boot);
    value.set("helper", report.helper);
    if (!report.users.empty()) value.set("users", report.users);
    if (report.hardware) value.set("hardware", value_of(*report.hardware));
    if (report.lending) value.set("lending", value_of(*report.lending));
    return dump(value);
}

Result<KnownMachines> read_machines(std::string_view text) {
    const Result<Value> value = parse(text, {limits::answer_bytes, limits::json_depth});
    if (!value) return value.error();
    const Result<std::int64_t> revision = integer_at(value.value(), "revision");
    if (!revision) return revision.error();
    const Result<std::int64_t> now = integer_at(value.value(), "now");
    if (!now) return now.error();
    const Value* const machines = value.value().find("machines");
    if (machines == nullptr || machines->array() == nullptr) return wrong("machines", machines, "a list");
    if (machines->array()->size() > limits::machines) {
        return Error{Code::too_large, "machines: more than " + std::to_string(limits::machines)};
    }
    if (revision.value() < 0) return Error{Code::invalid, "revision: it is negative"};
    KnownMachines known{static_cast<std::uint64_t>(revision.value()), now.value(), {}};
    for (const Value& entry : *machines->array()) {
        Result<MachineReport> report = report_of(entry);
        if (!report) return report.error().within("machines");
        const Result<std::int64_t> received = integer_at(entry, "received");
        if (!received) return received.error().within("machines");
        known.machines.push_back({std::move(report).value(), received.value()});
    }
    return known;
}

std::string machines_head(std::uint64_t revision, std::int64_t now) {
    return R"({"revision":)" + std::to_string(revision) + R"(,"now":)" + std::to_string(now) +
           R"(,"machines":[)";
}

void add_machine(std::string& text, std::string_view report, std::int64_t received) {
    if (text.back() != '[') text += ',';
    text.append(report.substr(0, report.size() - 1));
    text += R"(,"received":)" + std::to_string(received) + '}';
}

void close_machines(std::string& text) {
    text += "]}";
}

}  // namespace llmgw::json
