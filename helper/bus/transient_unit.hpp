// From a task to the properties of a transient unit: pure. unit_runner.hpp starts it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/task_runner.hpp"

namespace llmgw::bus {

struct ExecStart {
    std::string path;
    std::vector<std::string> argv;
    bool operator==(const ExecStart&) const = default;
};
// Filled in by what starts the unit.
struct OutputFile {
    bool operator==(const OutputFile&) const = default;
};

struct UnitProperty {
    std::string name;
    std::variant<bool, std::uint32_t, std::uint64_t, std::string, std::vector<std::string>, ExecStart,
                 OutputFile>
        value;
    bool operator==(const UnitProperty&) const = default;
};

// What the manager of this machine is: which systemd, and the variables it gives to every unit.
struct ManagerFacts {
    unsigned version = 0;  // 252
    std::vector<std::string> environment;
};

std::vector<UnitProperty> unit_properties(const Task& task, const ManagerFacts& manager);

// 252 of "252.39-1~deb12u2" or "systemd 252"; 0 where it says none.
unsigned systemd_version(const std::string& text);

// How a unit ended, as systemd's properties of the same names say it.
struct UnitEnd {
    std::string result;          // "success", "exit-code", "signal", "timeout", "oom-kill" ...
    std::int32_t main_code = 0;  // CLD_EXITED, CLD_KILLED, CLD_DUMPED; 0: nothing was ever started
    std::int32_t main_status = 0;
    bool operator==(const UnitEnd&) const = default;
};

// Errors: timeout; internal where systemd could not start the program.
Result<TaskResult> task_result(const Task& task, const UnitEnd& end, std::string output);

}  // namespace llmgw::bus
