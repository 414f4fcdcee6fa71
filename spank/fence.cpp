#include "fence.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "core/extern_step.hpp"
#include "core/lending_record.hpp"
#include "core/limits.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw::guard {
namespace {

constexpr int look_every_ms = 50;

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

// The helper watches the directory, and removes the file when the job is sent away, or may start after all.
void wait_for_helper(const std::string& directory, std::uint32_t job) {
    if (job == 0) return;
    const std::string path = directory + "/" + std::to_string(job);
    if (!write_file_atomically(path, "", 0644, Durability::volatile_)) return;
    const auto end = std::chrono::steady_clock::now() + limits::fence_wait;
    while (exists(path) && std::chrono::steady_clock::now() < end) ::poll(nullptr, 0, look_every_ms);
    ::unlink(path.c_str());
}

}  // namespace

std::optional<std::string> fenced(const Arguments& arguments) {
    const std::string path = arguments.state_directory + "/lending";
    const Result<StateFile> file = read_state_file(path, limits::state_file_bytes);
    if (!file && file.error().code == Code::missing) return std::nullopt;
    const Result<LendingRecord> record =
        file ? parse_lending_record(file.value().content) : Result<LendingRecord>(file.error());
    if (!record) return path + " can't be used: " + record.error().message;
    if (record.value().admits_jobs()) return std::nullopt;
    return "this node is llmgw's now and not lent to Slurm (\"llmgw-slurm lend NODE\" lends it, "
           "\"llmgw-slurm fence off "
           "NODE\" lets jobs start all the same)";
}

std::optional<std::string> held_at_fence(const Arguments& arguments, std::uint32_t job) {
    std::optional<std::string> reason = fenced(arguments);
    if (!reason) return reason;
    wait_for_helper(arguments.run_directory + "/fence", job);
    return fenced(arguments);
}

void stop_at_fence(const Arguments& arguments) {
    const char* const number = std::getenv("SLURM_JOB_ID");
    const std::uint32_t job = parse_job_number(number == nullptr ? "" : number).value_or(0);
    const std::optional<std::string> reason = held_at_fence(arguments, job);
    if (!reason) return;
    slurm_error("llmgw: job %u is not started: %s", job, reason->c_str());
    ::_exit(1);
}

}  // namespace llmgw::guard
