#include "slurm/nobody.hpp"

#include <unistd.h>

#include "core/limits.hpp"
#include "core/task_runner.hpp"

namespace llmgw::slurm {

void run_as_nobody(Command& command) {
    command.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                           "LC_ALL=C.UTF-8"};
    command.deadline = limits::program_deadline;
    command.most_output = limits::program_output_bytes;
    if (::geteuid() != 0) return;
    command.uid = nobody;
    command.gid = nobody;
}

}  // namespace llmgw::slurm
