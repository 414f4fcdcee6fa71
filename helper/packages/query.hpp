// How a package manager is asked something: a program that only looks, run at once and not as a task.
#pragma once

#include <functional>

#include "posix/process.hpp"

namespace llmgw::packages {

using Query = std::function<Result<Outcome>(const Command&)>;

}  // namespace llmgw::packages
