// Whether a job may be submitted: a pure function of the job and of what the gate file says.
#pragma once

#include <string>

#include "core/container_request.hpp"
#include "core/gate_state.hpp"
#include "core/result.hpp"
#include "core/script_scan.hpp"
#include "slurmctld_api.hpp"

namespace llmgw::gate {

struct Decision {
    enum class Kind { admit, admit_with_warning, refuse };
    Kind kind = Kind::admit;
    std::string message;  // one line for the user; empty when admitted silently

    bool operator==(const Decision&) const = default;
};

// What the descriptor asks for. Every pointer in it may be null and every count larger than limits:: allow:
// entries past limits::environment_entries are not looked at, the guard on the node sees them.
Request request_of(const job_desc_msg_t& job) noexcept;

// The script of a batch job, empty where there is none; of a longer one only as much as is ever scanned.
std::string_view script_of(const job_desc_msg_t& job) noexcept;

// sbatch reads #SBATCH lines and forwards what they ask; slurmrestd and other clients don't, so that Slurm
// would run the job as if the line weren't there (22.05 to 26.05 have no option parser in slurmctld).
bool directive_was_dropped(const job_desc_msg_t& job, const ScriptFindings& script) noexcept;

// sbatch gives a het job's script the options and variables of the first component only (22.05 sbatch.c), so
// that what a later one asks for reaches no step, unless the first one asks, too, which the guard marks. srun
// and salloc, which send no environment, hand all of it on.
bool later_component_was_dropped(const job_desc_msg_t& job, Request request) noexcept;
Decision refuse_later_component(const job_desc_msg_t& job, Request request);

// `request`, and `script` for batch jobs, decide together with the gate file; `state` is its content or why
// it can't be trusted. A job that asks for nothing is admitted whatever the state is.
Decision decide(Request request, const ScriptFindings& script, bool dropped_directive,
                const Result<GateState>& state);

}  // namespace llmgw::gate
