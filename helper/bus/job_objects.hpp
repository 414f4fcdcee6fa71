// Jobs as objects below /org/llmgw/Slurm1/jobs, interface org.llmgw.Slurm1.Job (docs/dbus.md): readable by
// everyone.
#pragma once

#include <systemd/sd-bus.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/job.hpp"
#include "core/result.hpp"

namespace llmgw::bus {

inline constexpr const char* jobs_path = "/org/llmgw/Slurm1/jobs";
inline constexpr const char* job_interface = "org.llmgw.Slurm1.Job";

std::string job_path(std::uint32_t id);
// Nothing: no path of a job.
std::optional<std::uint32_t> job_in(const std::string& path);

class JobSource {
  public:
    virtual ~JobSource() = default;
    // Null: there is none, or no more. Valid until the callback that asks returns.
    [[nodiscard]] virtual const Job* job(std::uint32_t id) const = 0;
    [[nodiscard]] virtual std::vector<std::uint32_t> jobs() const = 0;
};

// `source` must outlive the connection.
Result<void> add_job_objects(sd_bus* bus, JobSource& source);
// Emits PropertiesChanged of everything that can change.
void emit_job_changed(sd_bus* bus, std::uint32_t id);

}  // namespace llmgw::bus
