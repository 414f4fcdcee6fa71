// The extern step of a job on this machine: the one that Slurm makes for what comes from outside, with
// PrologFlags=Contain. Known by its slurmstepd's socket in SlurmdSpoolDir. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

struct ExternStep {
    std::string directory;  // SlurmdSpoolDir of its slurmd
    std::string node;       // that slurmd's NodeName, whatever this host is called
    std::uint32_t job = 0;
    std::int64_t born_ns = 0;  // when the socket was made, since 1970

    [[nodiscard]] std::string socket() const;
    bool operator==(const ExternStep&) const = default;
};

// NODE_JOB.4294967292 (22.05 to 26.05 stepd_api.c); without directory and time. Nothing: another file.
std::optional<ExternStep> parse_extern_socket(std::string_view name);

// The job that began last comes first; of two of the same moment the one with the higher number.
void sort_newest_first(std::vector<ExternStep>& steps);

// A job's number as a user writes it: "4711". Nothing: no number of a job.
std::optional<std::uint32_t> parse_job_number(std::string_view text);

}  // namespace llmgw
