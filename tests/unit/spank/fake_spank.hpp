// SPANK as the guard sees it: state instead of a Slurm daemon. Linked instead of Slurm.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spank_api.hpp"

namespace llmgw::fake {

enum class Throws { nothing, bad_alloc, runtime_error, number };

struct Registered {
    std::string name;
    bool takes_argument = false;
    spank_opt_cb_f accept = nullptr;
};

struct Spank {
    spank_context_t context = S_CTX_REMOTE;
    std::uint32_t job = 7;
    std::uint32_t step = 0;
    std::uint32_t nodes = 1;
    std::uint32_t uid = 0;  // and gid
    std::map<std::string, std::string> environment;  // of the step
    std::map<std::string, std::string> options;      // by name, as parsed by whichever plugin has them
    std::map<std::string, std::string> job_control;
    std::vector<Registered> registered;
    std::vector<std::string> log;    // "error: ...", "debug: ..."; also written to stderr
    std::vector<std::string> calls;  // names of the SPANK functions called

    // The named SPANK function throws this; an empty name: each of them.
    Throws throws = Throws::nothing;
    std::string thrower;
};

// The one state, since SPANK's functions are global.
Spank& spank();
void reset();

// What SPANK hands to the entry points.
spank_t handle();

}  // namespace llmgw::fake
