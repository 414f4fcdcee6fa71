// Attack surface: the job descriptor that slurmctld hands to the gate. Any user can have any client send one:
// arrays with holes, entries that are no variables, scripts of any bytes. The gate must answer with one of
// its two codes, with one printable line where it has something to say, and the same way twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "decision.hpp"
#include "fake_slurmctld.hpp"
#include "fuzz/promise.hpp"
#include "gate.hpp"
#include "job.hpp"

namespace llmgw::fuzz {

// Records end with byte 0x1e; their first byte says what they are: e and j an entry of either environment, E
// and J a hole in it, s the script, c the OCI bundle. All others are left out.
inline void describe_job(std::string_view text, fake::Job& job) {
    std::vector<std::string> environment;
    std::vector<std::string> job_control;
    std::vector<std::size_t> holes;
    std::vector<std::size_t> job_control_holes;
    for (const std::string_view record : split(text, '\x1e')) {
        if (record.empty()) continue;
        // What a C interface can carry ends at the first zero byte.
        const std::string rest(record.substr(1, record.find('\0', 1) - 1));
        if (record[0] == 'E') holes.push_back(environment.size());
        if (record[0] == 'J') job_control_holes.push_back(job_control.size());
        if (record[0] == 'e' || record[0] == 'E') environment.push_back(rest);
        if (record[0] == 'j' || record[0] == 'J') job_control.push_back(rest);
        if (record[0] == 's') job.script(rest);
        if (record[0] == 'c') job.container(rest);
    }
    job.environment(environment).job_control(job_control);
    for (const std::size_t hole : holes) job->environment[hole] = nullptr;
    for (const std::size_t hole : job_control_holes) job->spank_job_env[hole] = nullptr;
}

inline void job_descriptor(std::string_view text) {
    fake::Job job;
    describe_job(text, job);
    fake::Message message;
    const int answer = gate::check(job.get(), gate::Change::submit, message.out());
    must(answer == SLURM_SUCCESS || answer == ESLURM_SUBMISSIONS_DISABLED);
    must(answer == SLURM_SUCCESS || !message.text().empty());
    must(one_printable_line(message.text()));
    must(gate::check(job.get(), gate::Change::submit, nullptr) == answer);

    const Request request = gate::request_of(*job.get());
    // Without a gate file nothing that asks gets through, and a change asks as much as the first request.
    must(request == Request::none || answer != SLURM_SUCCESS);
    const int modified = gate::check(job.get(), gate::Change::modify, nullptr);
    must((modified == SLURM_SUCCESS) == (request == Request::none));
}

}  // namespace llmgw::fuzz
