// slurmctld refuses a job_submit plugin that was built for another micro version, and then does not start
// (22.05 plugin.c:137, controller.c:551). Nothing that we use changes inside a major.minor, so ours takes the
// stamp of a plugin that the same process has already loaded.
#pragma once

#include <cstdint>

namespace llmgw::gate {

// `built_for`, or the stamp of a Slurm plugin mapped into this process if its major.minor is the same. A
// process with plugins of another major.minor gets `built_for` back, which slurmctld then refuses as it
// should.
std::uint32_t stamp_of_running_slurm(std::uint32_t built_for) noexcept;

}  // namespace llmgw::gate
