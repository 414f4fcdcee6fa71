// What the gate costs slurmctld per job: it holds read locks on jobs, nodes and partitions meanwhile.
// Goals: under 2 microseconds where the script is not scanned, and memory speed where it is.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "core/gate_state.hpp"
#include "core/limits.hpp"
#include "fake_slurmctld.hpp"
#include "gate.hpp"
#include "job.hpp"
#include "posix/file.hpp"

namespace {

using namespace llmgw;
using fake::Job;

// A running gate with an open gate file.
class Gate {
  public:
    Gate() {
        std::string name = std::filesystem::temp_directory_path() / "llmgw-bench-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        ::setenv("LLMGW_SLURM_RUN_DIR", directory_.c_str(), 1);
        const std::string text = format_gate_state({true, 1, false, "containers are ready"});
        if (!write_file_atomically(directory_ + "/gate", text, 0644, Durability::volatile_)) std::abort();
        gate::start();
    }
    ~Gate() {
        gate::stop();
        std::filesystem::remove_all(directory_);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

  private:
    std::string directory_;
};

std::vector<std::string> environment() {
    std::vector<std::string> entries;
    const char* names[] = {"SLURM_JOB_", "PATH_", "LANG_", "PYTHON_", "SSH_", "XDG_"};
    for (int i = 0; i < 60; ++i) {
        entries.push_back(names[i % 6] + std::to_string(i) + "=" + std::string(40, 'v'));
    }
    return entries;
}

std::string repeated(const std::string& line, std::size_t bytes) {
    std::string text = "#!/bin/bash\n";
    while (text.size() + line.size() <= bytes) text += line;
    return text;
}

void submit(benchmark::State& state, Job& job) {
    const Gate gate;
    for (auto _ : state) benchmark::DoNotOptimize(gate::check(job.get(), gate::Change::submit, nullptr));
}

void plain_job_without_script(benchmark::State& state) {
    Job job;
    job.environment(environment());
    submit(state, job);
}
BENCHMARK(plain_job_without_script);

// The script is searched for one word and has none.
void plain_job(benchmark::State& state) {
    const auto size = static_cast<std::size_t>(state.range(0));
    Job job;
    job.environment(environment()).script(repeated("python3 train.py --epochs 3 --lr 0.1\n", size));
    submit(state, job);
    state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<std::size_t>(state.iterations()) *
                                                      std::min(size, limits::script_scan_bytes)));
}
BENCHMARK(plain_job)->Arg(100 << 10)->Arg(1 << 20);

// A script that makes the search stumble at each byte.
void plain_job_of_dashes(benchmark::State& state) {
    Job job;
    job.environment(environment()).script(std::string(static_cast<std::size_t>(state.range(0)), '-'));
    submit(state, job);
    state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(plain_job_of_dashes)->Arg(100 << 10);

void container_job(benchmark::State& state) {
    Job job;
    job.environment(environment())
        .job_control({"_SLURM_SPANK_OPTION_pyxis_container_image=ubuntu"})
        .script(repeated("python3 train.py\n", 100 << 10));
    submit(state, job);
}
BENCHMARK(container_job);

void container_job_by_its_last_variable(benchmark::State& state) {
    std::vector<std::string> entries = environment();
    entries.emplace_back("PYXIS_CONTAINER_IMAGE=ubuntu");
    Job job;
    job.environment(entries).script(repeated("python3 train.py\n", 100 << 10));
    submit(state, job);
}
BENCHMARK(container_job_by_its_last_variable);

// Read line by line, since a word is in it; grows with the bytes up to the limit, and no further.
void script_with_the_word(benchmark::State& state) {
    const auto size = static_cast<std::size_t>(state.range(0));
    Job job;
    job.environment(environment())
        .script("# --container-\n" + repeated("srun -n 4 train --lr 0.1 \"a b\"\n", size));
    submit(state, job);
    state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<std::size_t>(state.iterations()) *
                                                      std::min(size, limits::script_scan_bytes)));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(script_with_the_word)->RangeMultiplier(2)->Range(1 << 10, 128 << 10)->Complexity(benchmark::oN);
BENCHMARK(script_with_the_word)->Arg(256 << 10)->Arg(1 << 20);

}  // namespace

BENCHMARK_MAIN();
