// Ending a step that one of its nodes refuses.
#pragma once

#include "spank_api.hpp"

namespace llmgw::guard {

// A step on several nodes would go on without this one, or wait for it for ever. Asks slurmctld, as the
// step's user, to end it; does nothing for a step on one node. Gives up after seconds, and never fails: the
// task ends anyhow.
void end_step(spank_t task);

}  // namespace llmgw::guard
