#include "core/proof_verdict.hpp"

#include <charconv>
#include <vector>

#include "core/last_words.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view answer_sign = "llmgw-proof ";

// The word after "Command not found: ".
std::string missing_program(std::string_view output) {
    constexpr std::string_view sign = "ommand not found: ";
    const std::size_t at = output.rfind(sign);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = output.substr(at + sign.size());
    return printable(rest.substr(0, rest.find_first_of(" ,\n\r:")));
}

// What keeps an ordinary user from making namespaces. ENOSPC is what the kernel says at a limit.
std::string namespace_remedy(const NamespaceLimits& limits) {
    if (limits.max_user_namespaces == 0) {
        return "user namespaces are switched off: user.max_user_namespaces is 0; set it to 10000 or more in "
               "/etc/sysctl.d and run \"sysctl --system\"";
    }
    if (limits.max_mount_namespaces == 0) {
        return "mount namespaces are switched off: user.max_mnt_namespaces is 0; set it to 10000 or more in "
               "/etc/sysctl.d and run \"sysctl --system\"";
    }
    if (limits.unprivileged_clone == 0) {
        return "user namespaces are switched off for ordinary users: kernel.unprivileged_userns_clone is 0; "
               "set "
               "it to 1 in /etc/sysctl.d and run \"sysctl --system\"";
    }
    if (limits.apparmor_restricts && *limits.apparmor_restricts != 0) {
        return std::string(
                   "AppArmor lets only programs with a profile make user namespaces "
                   "(kernel.apparmor_restrict_unprivileged_userns is 1); ") +
               (limits.apparmor_profile
                    ? "load enroot's: \"apparmor_parser -r /etc/apparmor.d/enroot\""
                    : "enroot's, /etc/apparmor.d/enroot, is missing: reinstall the package enroot");
    }
    return {};
}

}  // namespace

std::optional<ProofAnswer> proof_answer_in(std::string_view output) {
    std::optional<ProofAnswer> found;
    for (const std::string_view line : split(output, '\n')) {
        if (!line.starts_with(answer_sign)) continue;
        const std::vector<std::string_view> words = split(line.substr(answer_sign.size()), ' ');
        if (words.size() != 5) continue;
        std::uint64_t mounts = 0;
        const char* const end = words[4].data() + words[4].size();
        const auto [read, error] = std::from_chars(words[4].data(), end, mounts);
        if (error != std::errc() || read != end) continue;
        found = {std::string(words[0]), std::string(words[1]),
                 std::string(words[2]) + " " + std::string(words[3]), mounts};
    }
    return found;
}

Result<void> judge(const ProofAnswer& answer, const ProofWanted& wanted) {
    if (answer.token != wanted.token || answer.marker != wanted.token) {
        return Error{Code::invalid, "another container than the one that was made has answered"};
    }
    if (answer.root == wanted.host_root) {
        return Error{Code::invalid, "the program ran on the machine itself, not in a container"};
    }
    if (wanted.gpu && answer.nvidia_mounts == 0) {
        return Error{
            Code::invalid,
            "NVIDIA's hook put nothing into the container; see whether /etc/enroot/hooks.d/98-nvidia.sh "
            "can be executed and nvidia-container-cli is installed"};
    }
    return {};
}

std::string remedy_for(std::string_view output, const NamespaceLimits& limits) {
    // Its programs, and the stand-in's word; the data path's own "Permission denied" is another matter.
    for (const std::string_view sign :
         {"enroot-nsenter:", "enroot-mount:", "enroot-switchroot:", "namespace"}) {
        if (!contains(output, sign)) continue;
        if (std::string remedy = namespace_remedy(limits); !remedy.empty()) return remedy;
    }
    // The limit was said above; what is left is a full one.
    if (contains(output, "namespace: No space left")) {
        return "as many user namespaces as user.max_user_namespaces allows are in use; raise it in "
               "/etc/sysctl.d";
    }
    if (contains(output, "No space left on device")) return "free some space there";
    if (const std::string program = missing_program(output); !program.empty()) {
        if (program.ends_with("squashfs")) return "install squashfs-tools";
        if (program == "nvidia-container-cli") return "install libnvidia-container-tools";
        return "install the package that has " + program;
    }
    return {};
}

std::string proof_failure(std::string_view output, int exit_code, const NamespaceLimits& limits) {
    constexpr int lines = 2;
    std::string words = last_words(output, lines);
    if (words.empty()) words = "it said nothing";
    const std::string remedy = remedy_for(output, limits);
    return words + " (exit code " + std::to_string(exit_code) + ")" + (remedy.empty() ? "" : "; " + remedy);
}

}  // namespace llmgw
