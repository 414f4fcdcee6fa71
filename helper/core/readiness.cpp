#include "core/readiness.hpp"

#include <algorithm>
#include <cstddef>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

// Machines named in the message for users; the rest is counted.
constexpr std::size_t named_machines = 5;
constexpr std::size_t reason_bytes = 100;

const KnownMachine* find(const KnownMachines& reports, const std::string& machine) {
    const auto found = std::find_if(reports.machines.begin(), reports.machines.end(),
                                    [&](const KnownMachine& each) { return each.report.name == machine; });
    return found == reports.machines.end() ? nullptr : &*found;
}

std::string version_of(const MachineReport& report, const char* program) {
    const auto found = report.versions.find(program);
    return found == report.versions.end() ? "of an unknown version" : found->second;
}

MachineStatus status_of(const std::string& machine, const KnownMachines& reports,
                        const WantedVersions& wanted, const ClockText& clock) {
    const KnownMachine* received = find(reports, machine);
    if (received == nullptr) return {machine, false, "no report yet"};
    const MachineReport& report = received->report;
    if (is_silent(*received, reports.now)) {
        return {machine, false, "no report since " + clock(received->received)};
    }
    if (!report.ready) return {machine, false, report.reason};
    for (const auto& [program, version] : {std::pair{"pyxis", &wanted.pyxis}, {"enroot", &wanted.enroot}}) {
        const std::string has = version_of(report, program);
        if (has != *version)
            return {machine, false, std::string("has ") + program + " " + has + ", not " + *version};
    }
    return {machine, true, report.reason};
}

std::vector<std::string> machines_that_count(const ResolvedSettings& settings) {
    std::vector<std::string> machines{settings.controller};
    for (const std::string& node : settings.slurm_nodes) {
        if (node != settings.controller) machines.push_back(node);
    }
    return machines;
}

std::string waiting_for(const std::vector<MachineStatus>& machines) {
    std::vector<std::string> named;
    std::size_t waiting = 0;
    for (const MachineStatus& machine : machines) {
        if (machine.ready) continue;
        if (++waiting <= named_machines) {
            named.push_back(machine.name + " (" + printable(machine.reason, reason_bytes) + ")");
        }
    }
    std::string text = join(named, ", ");
    if (waiting > named_machines) text += " and " + std::to_string(waiting - named_machines) + " more";
    return text;
}

constexpr const char* plain_jobs_run = " Plain jobs run.";

}  // namespace

Readiness assess(const ResolvedSettings& settings, const KnownMachines& reports, const WantedVersions& wanted,
                 GateOverride forced, const ClockText& clock) {
    Readiness readiness;
    if (settings.enabled) {
        for (const std::string& machine : machines_that_count(settings)) {
            readiness.machines.push_back(status_of(machine, reports, wanted, clock));
        }
    }
    const std::vector<MachineStatus>& machines = readiness.machines;
    const auto ready =
        std::count_if(machines.begin(), machines.end(), [](const MachineStatus& each) { return each.ready; });
    const std::string versions = "pyxis " + wanted.pyxis + " and enroot " + wanted.enroot;

    if (forced == GateOverride::closed) {
        readiness.message =
            std::string("llmgw: an administrator has closed this cluster for container jobs.") +
            plain_jobs_run + " \"llmgw-slurm status\" shows when that changes.";
    } else if (forced == GateOverride::open) {
        readiness.open = true;
        readiness.message =
            "llmgw: an administrator has opened this cluster for container jobs, whatever the "
            "machines say; a machine that is not ready still refuses them itself.";
    } else if (!settings.enabled) {
        readiness.message = std::string(
                                "llmgw: this cluster is switched off in llmgw's settings, and with it "
                                "containers.") +
                            plain_jobs_run;
    } else if (!settings.containers) {
        readiness.message = std::string("llmgw: containers are switched off on this cluster.") +
                            plain_jobs_run +
                            " An administrator switches them on with \"llmgw-slurm containers on\".";
    } else if (static_cast<std::size_t>(ready) == machines.size()) {
        readiness.open = true;
        readiness.message =
            "llmgw: containers are ready: all " + std::to_string(ready) + " machines have " + versions + ".";
    } else {
        readiness.message = "llmgw: containers are not ready on this cluster: " + std::to_string(ready) +
                            " of " + std::to_string(machines.size()) + " machines have " + versions +
                            "; waiting for " + waiting_for(machines) + "." + plain_jobs_run +
                            " \"llmgw-slurm status\" shows progress.";
    }
    readiness.message = shortened(readiness.message, limits::message_bytes);
    return readiness;
}

}  // namespace llmgw
