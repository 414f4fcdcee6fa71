// A job and a plan in words.
#pragma once

#include <string>

#include "core/job.hpp"
#include "core/value.hpp"

namespace llmgw::ctl {

// "[4/12] install enroot 4.2.1: 3.1 of 6.0 MB" while it runs, its message when it has ended.
std::string job_text(const Job& job);
Value job_value(const Job& job);

// The plan as the helper's Plan and Doctor answer it (docs/dbus.md), a line a step.
std::string plan_text(const Value& plan);
bool all_done(const Value& plan);

}  // namespace llmgw::ctl
