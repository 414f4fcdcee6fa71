#include "node_fitness.hpp"

#include <unistd.h>

#include "core/limits.hpp"
#include "core/node_state.hpp"
#include "posix/file.hpp"

namespace llmgw::guard {
namespace {

constexpr std::size_t boot_id_bytes = 64;

Result<NodeState> node_state(const Arguments& arguments) {
    const std::string path = arguments.run_directory + "/node";
    Result<StateFile> file = read_state_file(path, limits::state_file_bytes);
    if (!file) return file.error();
    Result<NodeState> state = parse_node_state(file.value().content);
    if (!state) return Error{state.error().code, path + " " + state.error().message};
    return state;
}

bool unchanged(const std::string& path, const std::string& fingerprint) {
    const Result<FileStamp> stamp = stamp_of(path);
    return stamp && stamp.value().text() == fingerprint;
}

bool this_boot(const std::string& boot) {
    Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id", boot_id_bytes);
    if (!id) return false;
    while (!id.value().empty() && id.value().back() == '\n') id.value().pop_back();
    return id.value() == boot;
}

std::optional<std::string> unverified(const Arguments& arguments, const std::string& pyxis) {
    const Result<NodeState> state = node_state(arguments);
    if (!state) {
        return "nothing vouches for this machine (" + state.error().message +
               "); llmgw-slurm-helper seems not to run here";
    }
    const NodeState& node = state.value();
    if (!node.ready) return "this machine is not ready: " + node.reason;
    if (!this_boot(node.boot)) return "this machine was not verified since it booted";
    if (node.pyxis_path != pyxis) {
        return "pyxis was loaded from " + pyxis + ", but the verified one is " + node.pyxis_path;
    }
    if (!unchanged(node.pyxis_path, node.pyxis_fingerprint)) {
        return node.pyxis_path + " was replaced since it was verified";
    }
    if (::access(node.enroot_path.c_str(), X_OK) != 0) return "enroot is gone (" + node.enroot_path + ")";
    if (!unchanged(node.enroot_path, node.enroot_fingerprint)) {
        return node.enroot_path + " was replaced since it was verified";
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> unfitness(const Arguments& arguments, const std::string& pyxis) {
    if (pyxis.empty()) {
        std::string reason = "pyxis is not loaded here";
        if (const Result<NodeState> state = node_state(arguments); state && !state.value().ready) {
            reason += " (" + state.value().reason + ")";
        }
        return reason;
    }
    if (!arguments.alone) return unverified(arguments, pyxis);
    if (::access(arguments.enroot.c_str(), X_OK) != 0)
        return "enroot is not installed (" + arguments.enroot + ")";
    return std::nullopt;
}

void make_user_directories(const Arguments& arguments, const User& user) {
    const Result<NodeState> state = node_state(arguments);
    if (!state) return;
    for (const std::string& parent : state.value().user_directories) {
        const Result<void> made = make_user_directory(parent, user);
        if (!made) slurm_error("llmgw: %s", made.error().message.c_str());
    }
}

std::optional<std::string> unsafe_directory(const Arguments& arguments, uid_t uid) {
    const Result<NodeState> state = node_state(arguments);
    if (!state) return std::nullopt;
    for (const std::string& parent : state.value().user_directories) {
        const Result<void> checked = check_user_directory(parent, uid);
        if (!checked) return checked.error().message;
    }
    return std::nullopt;
}

bool oci_runtime_or_unknown(const Arguments& arguments) {
    const Result<NodeState> state = node_state(arguments);
    return !state || state.value().oci;
}

}  // namespace llmgw::guard
