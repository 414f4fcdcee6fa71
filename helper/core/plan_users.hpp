// The steps of the plan (core/plan.hpp) for the shared path and for llmgw's users.
#pragma once

#include "core/plan.hpp"

namespace llmgw {

void add_storage_steps(Plan& plan, const ResolvedSettings& settings, const SetupFacts& facts);
void add_users_steps(Plan& plan, const ResolvedSettings& settings, const SetupFacts& facts);

}  // namespace llmgw
