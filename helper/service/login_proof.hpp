// Shows what sshd's PAM lines on this machine do: logs in through a real sshd, with keys of the moment, as
// root, as a user in the admins' group and as one without a job. These two are made for it and removed again.
// The sshd is one of its own (sshd -i), with a configuration of its own, so that nothing but PAM decides.
#pragma once

#include <stop_token>
#include <string>

#include "core/result.hpp"
#include "core/task_runner.hpp"

namespace llmgw::service {

struct LoginProof {
    std::string directory;  // to make, which only root can write
    std::string sshd = "/usr/sbin/sshd";
    std::string ssh = "/usr/bin/ssh";
};

// Errors: conflict: somebody got in who must not, or did not who must; else it could not be shown.
Result<void> prove_logins(const LoginProof& proof, TaskRunner& runner, const std::stop_token& stop);

// Removes users that a proof that was broken off left.
Result<void> remove_proof_users(TaskRunner& runner, const std::stop_token& stop);

}  // namespace llmgw::service
