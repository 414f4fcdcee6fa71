// What llmgw-slurm-login starts, and with which variables. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

// What somebody who came in by ssh wants.
struct LoginRequest {
    std::optional<std::string> command;  // nothing: a shell
    bool untold = false;                 // sshd has not shown the PAM module's words

    bool operator==(const LoginRequest&) const = default;
};

// The module's words once more, since sshd keeps them to itself with a ForceCommand (session.c, do_login).
inline constexpr std::string_view words_variable = "LLMGW_SLURM_LOGIN";

// From the program's own words: as a login shell "-c COMMAND", or a name that begins with a dash; as sshd's
// ForceCommand no word, and the command in SSH_ORIGINAL_COMMAND. Nothing: other words.
std::optional<LoginRequest> login_request(const std::vector<std::string>& words,
                                          const std::vector<std::string>& environment);

// A variable's value in an environment of NAME=VALUE; "": none.
std::string variable(const std::vector<std::string>& environment, std::string_view name);
std::vector<std::string> with_variable(std::vector<std::string> environment, std::string_view name,
                                       const std::string& value);
std::vector<std::string> without_variables(const std::vector<std::string>& environment,
                                           const std::vector<std::string_view>& names);

// Shells to try, in this order: the user's own, unless that is this program (`own`, its name without
// directories).
std::vector<std::string> shells(const std::vector<std::string>& environment, std::string_view own);

// Of a login in a container: the environment of the container's process (as the kernel keeps it, each
// variable ended by a zero byte) without what belongs to one step or task, and what the login itself knows.
std::vector<std::string> container_environment(std::string_view process,
                                               const std::vector<std::string>& login);

// sshd's sftp, which is served on the host.
struct SftpRequest {
    std::vector<std::string> servers;  // paths to try, in this order
    std::vector<std::string> arguments;

    bool operator==(const SftpRequest&) const = default;
};
// "internal-sftp" or a path that ends in /sftp-server, with words behind it. Nothing: another command.
std::optional<SftpRequest> sftp_request(std::string_view command);

}  // namespace llmgw
