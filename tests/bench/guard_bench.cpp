// What the guard costs a step on its node. Goal: under a millisecond, and nothing to speak of for a plain
// one.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdlib>

#include "fake_node.hpp"
#include "guard.hpp"
#include "node_fitness.hpp"
#include "posix/loaded_object.hpp"

namespace {

using namespace llmgw;

void fill_environment() {
    for (int i = 0; i < 60; ++i) {
        fake::spank().environment.emplace("SLURM_VARIABLE_" + std::to_string(i), std::string(40, 'v'));
    }
}

void run(benchmark::State& state, const guard::Arguments& first) {
    guard::Arguments verify = first;
    verify.verify = true;
    for (auto _ : state) {
        fake::spank().calls.clear();
        guard::note_step(fake::handle(), first);
        guard::note_step(fake::handle(), verify);
        guard::admit_task(fake::handle(), first);
    }
}

void plain_step(benchmark::State& state) {
    const fake::Node node;
    fill_environment();
    run(state, {.run_directory = node.path("")});
}
BENCHMARK(plain_step);

// With the node file, the two files it names, the boot and the namespace really looked at.
void container_step(benchmark::State& state) {
    fake::Node node;
    fill_environment();
    void* pyxis = ::dlopen(node.path("spank_pyxis.so").c_str(), RTLD_LAZY);
    if (pyxis == nullptr) std::abort();
    fake::spank().environment.emplace("PYXIS_CONTAINER_IMAGE", "ubuntu");
    run(state, {.run_directory = node.path("")});
    ::dlclose(pyxis);
}
BENCHMARK(container_step);

}  // namespace

BENCHMARK_MAIN();
