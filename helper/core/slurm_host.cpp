#include "core/slurm_host.hpp"

#include <algorithm>

#include "core/slurmd_view.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr const char* default_spool = "/var/spool/slurmd";  // read_config.h: DEFAULT_SPOOLDIR

// SlurmctldHost since 18.08, each on a line of its own; the two older keys are still read.
constexpr std::string_view controller_keys[] = {"SlurmctldHost", "ControlMachine", "BackupController"};

std::string_view short_name(std::string_view host) {
    return host.substr(0, host.find('.'));
}

}  // namespace

SlurmHost parse_slurm_host(std::string_view text) {
    SlurmHost found;
    found.spool = expanded_path(slurm_conf_value(text, "SlurmdSpoolDir").value_or(default_spool), "*", "*");
    for (const std::string_view line : split(text, '\n')) {
        for (const std::string_view key : controller_keys) {
            // "ctl(192.0.2.10)"
            const std::string value = slurm_conf_value(line, key).value_or("");
            for (const std::string_view host : split(value, ',')) {
                const std::string_view name = trimmed(host.substr(0, host.find('(')));
                if (!name.empty()) found.controllers.emplace_back(name);
            }
        }
    }
    return found;
}

bool is_controller(const SlurmHost& slurm, std::string_view host) {
    return !host.empty() &&
           std::any_of(slurm.controllers.begin(), slurm.controllers.end(),
                       [host](const std::string& each) { return each == host || each == short_name(host); });
}

}  // namespace llmgw
