// The proof that containers work on this machine: as an unprivileged user without HOME, with an empty
// environment and no network, a container is created from a tiny image that is made here, started and
// removed.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "core/proof_verdict.hpp"
#include "core/result.hpp"
#include "core/task_runner.hpp"

namespace llmgw::service {

struct Proof {
    std::string enroot = "/usr/bin/enroot";
    std::string init =
        "/usr/libexec/llmgw-slurm/proof-init";  // the static program that the image consists of
    std::string run_dir = "/run/llmgw-slurm";   // the image and the work directory go below it
    bool gpu = false;                           // NVIDIA's hook must have run, too
    // enroot+caps is installed: where its programs are, they must have their capabilities.
    bool capabilities = false;
    std::string search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    // What enroot makes for the user of the proof: removed afterwards where it is empty, in this order.
    std::vector<std::string> user_directories = {"/run/enroot/user-65534", "/var/lib/enroot/cache/user-65534",
                                                 "/var/lib/enroot/data/user-65534"};
    std::chrono::seconds deadline{120};  // of each of its programs
};

// Errors: the failure's last lines, as one line; for what is known, with the remedy (user namespaces off,
// AppArmor, file capabilities gone, mksquashfs missing). Nothing stays behind, of an earlier proof that was
// killed neither. Of `stop`: unavailable.
Result<void> prove_containers(const Proof& proof, TaskRunner& runner, const std::stop_token& stop);

// The kernel's switches, as they are on this machine.
NamespaceLimits namespace_limits();

}  // namespace llmgw::service
