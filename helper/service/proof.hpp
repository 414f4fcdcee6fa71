// The proof that containers work on this machine: as an unprivileged user without HOME, with an empty
// environment and no network, a container is created from a tiny image that is made here, started and
// removed.
#pragma once

#include <stop_token>
#include <string>

#include "core/result.hpp"
#include "core/task_runner.hpp"

namespace llmgw::service {

struct Proof {
    std::string enroot = "/usr/bin/enroot";
    std::string init =
        "/usr/libexec/llmgw-slurm/proof-init";  // the static program that the image consists of
    std::string run_dir = "/run/llmgw-slurm";   // the image and the work directory go below it
    bool gpu = false;                           // NVIDIA's hook must have run, too
};

// Errors: the failure's last lines, as one line; for what is known, with the remedy (user namespaces off,
// AppArmor, file capabilities gone, mksquashfs missing).
Result<void> prove_containers(const Proof& proof, TaskRunner& runner, const std::stop_token& stop);

}  // namespace llmgw::service
