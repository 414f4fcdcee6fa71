// STATE/lending: whose this node is, durable on the node itself. Written before each effect of lending
// (core/lending.hpp) and read by the guard, whose fence it is: it must be read with little.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/lease.hpp"
#include "core/result.hpp"

namespace llmgw {

enum class LendingPhase {
    gateway,   // llmgw's
    asking,    // llmgw is asked for it, and drains its replicas
    checking,  // llmgw has let go; what still uses a GPU, and whether Slurm can have it, is being looked at
    slurm,     // Slurm's
    emptying,  // drained in Slurm; jobs end
    handing_back,  // empty; the leader is being told
};

const char* text_of(LendingPhase phase);
std::optional<LendingPhase> lending_phase(std::string_view text);

struct LendingRecord {
    // What a node is before anything is known about it: whatever runs there must have ended first.
    LendingPhase phase = LendingPhase::emptying;
    std::uint64_t generation = 0;  // of the lease asked for last; 0: none yet
    std::string lease;             // its id; "": none yet
    bool held = false;             // slurm and emptying: this lease has been Slurm's, and was not given back
    bool closing = false;          // emptying: nothing was left; no job starts any more until a last look
    bool fence = true;             // false: an admin switched it off
    std::int64_t since = 0;        // the phase's begin, unix time
    std::optional<Reclaim> reclaim;

    bool operator==(const LendingRecord&) const = default;
    // Whether Slurm may start a job here.
    [[nodiscard]] bool admits_jobs() const;
};

Result<LendingRecord> parse_lending_record(std::string_view text);
std::string format_lending_record(const LendingRecord& record);

}  // namespace llmgw
