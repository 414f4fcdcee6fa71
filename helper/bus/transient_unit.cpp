#include "bus/transient_unit.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>

#include "core/limits.hpp"
#include "posix/task_output.hpp"

namespace llmgw::bus {
namespace {

// Exit codes between fork and exec (systemd.exec(5), "Process Exit Codes"): the program never ran.
constexpr int first_systemd_code = 200;
constexpr int last_systemd_code = 245;

std::uint64_t microseconds(std::chrono::seconds time) {
    return static_cast<std::uint64_t>(std::chrono::microseconds(time).count());
}

std::string name_of(const std::string& assignment) {
    return assignment.substr(0, assignment.find('='));
}

// systemd puts variables of the environment in for $NAME in arguments; a flag against it came with 243.
std::string without_expansion(const std::string& argument) {
    std::string escaped;
    for (const char c : argument) {
        if (c == '$') escaped += c;
        escaped += c;
    }
    return escaped;
}

// What systemd adds by itself, and what the manager's own environment has: the task gets neither.
std::vector<std::string> unwanted(const Task& task, const ManagerFacts& manager) {
    std::vector<std::string> names = {"PATH",
                                      "LANG",
                                      "HOME",
                                      "USER",
                                      "LOGNAME",
                                      "SHELL",
                                      "TERM",
                                      "INVOCATION_ID",
                                      "JOURNAL_STREAM",
                                      "SYSTEMD_EXEC_PID",
                                      "SYSTEMD_LOG_LEVEL",
                                      "MANAGERPID",
                                      "MANAGERPIDFDID",
                                      "MEMORY_PRESSURE_WATCH",
                                      "MEMORY_PRESSURE_WRITE",
                                      "TMPDIR"};
    for (const std::string& assignment : manager.environment) {
        const std::string name = name_of(assignment);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const std::string& assignment : task.environment) std::erase(names, name_of(assignment));
    return names;
}

void add_restrictions(const Task& task, std::vector<UnitProperty>& properties) {
    const auto add = [&](const char* name, auto value) { properties.push_back({name, std::move(value)}); };
    if (task.unprivileged) {
        // nobody, by number: the name differs between families.
        add("User", std::to_string(nobody));
        add("Group", std::to_string(nobody));
        // Nothing else that makes systemd install a system call filter: those bring this flag, too.
        if (!task.keep_capabilities) add("NoNewPrivileges", true);
    }
    if (task.no_network) add("PrivateNetwork", true);
    if (task.read_only) {
        add("ProtectSystem", std::string("strict"));
        if (!task.writable.empty()) add("ReadWritePaths", task.writable);
    }
    if (task.read_only || task.private_tmp) add("PrivateTmp", true);
    if (task.memory_bytes > 0) {
        add("MemoryMax", task.memory_bytes);
        // Where this systemd has no memory controller, the former is silently without effect.
        add("LimitAS", task.memory_bytes);
    }
}

}  // namespace

std::vector<UnitProperty> unit_properties(const Task& task, const ManagerFacts& manager) {
    ExecStart start{task.argv.front(), {}};
    for (const std::string& argument : task.argv) start.argv.push_back(without_expansion(argument));
    std::vector<UnitProperty> properties;
    const auto add = [&](const char* name, auto value) { properties.push_back({name, std::move(value)}); };
    add("Description", task.description);
    // "exec" (240) tells a program that can't be executed from one that failed.
    add("Type", std::string(manager.version >= 240 ? "exec" : "simple"));
    add("ExecStart", std::move(start));
    add("WorkingDirectory", task.directory);
    if (!task.environment.empty()) add("Environment", task.environment);
    add("UnsetEnvironment", unwanted(task, manager));
    add("StandardInput", std::string("null"));
    add("StandardOutputFileDescriptor", OutputFile{});
    add("StandardErrorFileDescriptor", OutputFile{});
    add("UMask", std::uint32_t{022});
    // Pipelines in scripts rely on it.
    add("IgnoreSIGPIPE", false);
    add("KillMode", std::string("control-group"));
    add("RuntimeMaxUSec", microseconds(task.deadline));
    add("TimeoutStopUSec", microseconds(limits::task_stop));
    // Kept until its result was read, by us; without us it is forgotten as soon as it ended, however.
    add("AddRef", true);
    add("CollectMode", std::string("inactive-or-failed"));
    // dpkg copes with a child that ended, and must not be ended for it.
    if (manager.version >= 243) add("OOMPolicy", std::string(task.unprivileged ? "stop" : "continue"));
    add_restrictions(task, properties);
    return properties;
}

unsigned systemd_version(const std::string& text) {
    const std::size_t begin = text.find_first_of("0123456789");
    unsigned version = 0;
    if (begin != std::string::npos) {
        std::from_chars(text.data() + begin, text.data() + text.size(), version);
    }
    return version;
}

Result<TaskResult> task_result(const Task& task, const UnitEnd& end, std::string output) {
    if (end.result == "timeout") return took_too_long(task, output);
    const std::string& program = task.argv.front();
    if (end.main_code == 0) {
        return Error{Code::internal, "systemd did not start " + program + " (" + task.unit + ".service: " +
                                         end.result + "); see \"journalctl -u " + task.unit + "\""};
    }
    const bool exited = end.main_code == CLD_EXITED;
    if (exited && output.empty() && end.main_status >= first_systemd_code &&
        end.main_status <= last_systemd_code) {
        return Error{Code::internal, "systemd could not start " + program + " as it should (exit code " +
                                         std::to_string(end.main_status) + "); see \"journalctl -u " +
                                         task.unit + "\""};
    }
    if (end.result == "oom-kill") {
        if (!output.empty() && output.back() != '\n') output += '\n';
        output += "it was ended because it needed more memory than " +
                  (task.memory_bytes > 0 ? std::to_string(task.memory_bytes / (1024 * 1024)) + " MiB"
                                         : std::string("there is")) +
                  "\n";
    }
    return TaskResult{exited ? end.main_status : 128 + end.main_status, std::move(output)};
}

}  // namespace llmgw::bus
