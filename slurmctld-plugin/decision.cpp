#include "decision.hpp"

#include <algorithm>
#include <cstring>

#include "core/limits.hpp"

namespace llmgw::gate {
namespace {

Request request_in(char** entries, std::uint32_t count) noexcept {
    if (entries == nullptr) return Request::none;
    const std::size_t most = std::min<std::size_t>(count, limits::environment_entries);
    for (std::size_t i = 0; i < most; ++i) {
        if (entries[i] == nullptr) continue;
        if (const Request request = request_in_entry(entries[i]); request != Request::none) return request;
    }
    return Request::none;
}

bool has_entry(char** entries, std::uint32_t count, std::string_view name) noexcept {
    if (entries == nullptr) return false;
    const std::size_t most = std::min<std::size_t>(count, limits::environment_entries);
    return std::any_of(entries, entries + most, [&](const char* entry) {
        return entry != nullptr && std::strncmp(entry, name.data(), name.size()) == 0 &&
               entry[name.size()] == '=';
    });
}

bool is_set(const char* text) noexcept {
    return text != nullptr && *text != '\0';
}

std::string unknown_state(const Error& error) {
    return "llmgw: container jobs are refused, because the state of this cluster is unknown: " +
           error.message + ". Is llmgw-slurm-helper running on the controller? Plain jobs run.";
}

Decision refused(std::string message) {
    return {Decision::Kind::refuse, std::move(message)};
}

}  // namespace

Request request_of(const job_desc_msg_t& job) noexcept {
    if (const Request request = request_in(job.spank_job_env, job.spank_job_env_size);
        request != Request::none) {
        return request;
    }
    if (const Request request = request_in(job.environment, job.env_size); request != Request::none)
        return request;
    return is_set(job.container) ? Request::oci : Request::none;
}

std::string_view script_of(const job_desc_msg_t& job) noexcept {
    if (job.script == nullptr) return {};
    // One byte more than is scanned, by which the scan knows that it is cut.
    return {job.script, ::strnlen(job.script, limits::script_scan_bytes + 1)};
}

bool directive_was_dropped(const job_desc_msg_t& job, const ScriptFindings& script) noexcept {
    return script.directive != Request::none &&
           request_in(job.spank_job_env, job.spank_job_env_size) == Request::none;
}

bool later_component_was_dropped(const job_desc_msg_t& job, Request request) noexcept {
    const bool later = job.het_job_offset != NO_VAL && job.het_job_offset > 0;
    return later && job.env_size > 0 && request != Request::none && request != Request::oci &&
           !has_entry(job.spank_job_env, job.spank_job_env_size, mark_of_later_component);
}

Decision refuse_later_component(const job_desc_msg_t& job, Request request) {
    return refused(
        "llmgw: component " + std::to_string(job.het_job_offset) + " of this het job asks for " +
        describe(request) +
        ", and the first one does not: Slurm hands the script only what the first one asks for, and "
        "would run all steps on the host. Ask for it in the first component, or on the script's srun "
        "lines.");
}

Decision decide(Request request, const ScriptFindings& script, bool dropped_directive,
                const Result<GateState>& state) {
    if (dropped_directive) {
        return refused(
            "llmgw: line " + std::to_string(script.directive_line) + " of the script asks for " +
            describe(script.directive) +
            ", but only sbatch reads #SBATCH lines, and this job came another way: it would run on the "
            "host. Set PYXIS_CONTAINER_IMAGE in the job's environment instead.");
    }
    if (request == Request::oci) {
        if (!state) return refused(unknown_state(state.error()));
        if (state.value().oci) return {};
        return refused(
            "llmgw: --container needs an OCI runtime, and this cluster has none (no oci.conf): Slurm would "
            "run the job on the host. For an image, use --container-image.");
    }
    if (request != Request::none) {
        if (!state) return refused(unknown_state(state.error()));
        return state.value().open ? Decision{} : refused(state.value().message);
    }
    if (script.srun == Request::none || (state && state.value().open)) return {};
    return {Decision::Kind::admit_with_warning,
            "llmgw: line " + std::to_string(script.srun_line) + " of the script runs srun with " +
                describe(script.srun) + ", which its node may refuse. " +
                (state ? state.value().message : unknown_state(state.error()))};
}

}  // namespace llmgw::gate
