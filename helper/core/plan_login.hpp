// The steps of the plan (core/plan.hpp) for whom sshd lets in on a node.
#pragma once

#include "core/plan.hpp"

namespace llmgw {

// On a node of a cluster that we run; elsewhere it takes back what it did. Controllers are none, also those
// that run slurmd: the module lets everybody in there.
void add_login_steps(Plan& plan, const ResolvedSettings& settings, const SetupFacts& facts);

}  // namespace llmgw
