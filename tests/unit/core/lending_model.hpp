// A small world in which core/lending decides: one node, its helper, slurmctld, llmgw's leader and an admin,
// with every interleaving of what they may do, messages that are lost, late or repeated, and crashes at every
// point. Small numbers stand for everything, so that a state fits in 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmgw::model {

// Ways to get it wrong, each of which the exploration must notice.
enum class Mutation {
    none,
    undrain_before_check,      // what holds a GPU is not looked at
    unknown_is_empty,          // the machine could not be looked at: taken for empty
    unknown_is_free,           // the leader does not answer: taken for its consent
    no_last_look,              // handed back at the first look that shows nothing
    no_fence,                  // jobs start whatever the record says
    fence_open_while_closing,  // the fence stays open during the last look
    no_step_fence,             // the fence is asked only before the first step
    stale_facts,               // what was seen before a change still counts after it
    record_not_durable,        // a crash brings the record before back
    jobs_ignored,              // what runs on the machine is not looked at
    no_drain,                  // handed back without a drain
    leader_takes_back,         // the leader ends a lease by itself
    old_requests_count,        // the leader follows requests of older generations
    give_back_first,           // the lease is given back when the node is to be, not when it is empty
};
const char* text_of(Mutation mutation);
std::vector<Mutation> all_mutations();

struct Exploration {
    std::uint64_t states = 0;
    unsigned depth = 0;     // of the last new state
    bool complete = false;  // nothing new is reachable
    std::string broken;     // which rule, and in what state; empty: none
};

// All states that are at most `depth` steps away from a node that is llmgw's, or one that is Slurm's, for the
// first or the second time, with a message of the first time still on its way.
Exploration explore(Mutation mutation, unsigned depth);

}  // namespace llmgw::model
