// Programs that only answer a question run as nobody (when the helper is root), with an environment of two
// entries.
#pragma once

#include "posix/process.hpp"

namespace llmgw::slurm {

void run_as_nobody(Command& command);

}  // namespace llmgw::slurm
