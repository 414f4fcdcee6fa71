#include "slurm-node/node.hpp"

#include <string_view>

#include "slurm-node/slurm_api.hpp"

namespace llmgw::slurm_node {
namespace {

Error failure(const std::string& what) {
    return {Code::unavailable, what + ": " + slurm_strerror(errno)};
}

// Slurm's own, while a node doesn't answer or has just come back: it opens again by itself.
bool passing(std::string_view reason) {
    return reason.empty() || reason.starts_with("Not responding") ||
           reason.starts_with("Node unexpectedly rebooted") || generation_of_reason(reason);
}

NodeInSlurm node_from(const node_info_t& info) {
    NodeInSlurm node;
    const std::uint64_t base = info.node_state & state_base;
    const auto has = [&](std::uint64_t flag) { return (info.node_state & flag) != 0; };
    node.reason = info.reason == nullptr ? "" : info.reason;
    node.drained = has(state_drain);
    node.kept_by_others = (base == NODE_STATE_DOWN || has(state_fail)) && !passing(node.reason);
    node.idle = base == NODE_STATE_IDLE && !has(state_completing);
    node.registered = base != NODE_STATE_DOWN && base != NODE_STATE_UNKNOWN && base != NODE_STATE_FUTURE &&
                      !has(state_no_respond) && !has(state_invalid_reg) && info.slurmd_start_time > 0;
    node.power_saving = has(state_power);
    return node;
}

Result<void> update(const std::string& name, std::uint64_t state, std::string reason) {
    update_node_msg_t change;
    slurm_init_update_node_msg(&change);
    std::string names = name;
    change.node_names = names.data();
    change.node_state = static_cast<std::uint32_t>(state);
    change.reason = reason.data();
    if (slurm_update_node(&change) != SLURM_SUCCESS) return failure("node " + name);
    return {};
}

}  // namespace

Result<NodeInSlurm> look_at(const std::string& name) {
    node_info_msg_t* raw = nullptr;
    std::string wanted = name;
    if (slurm_load_node_single(&raw, wanted.data(), show_all) != SLURM_SUCCESS) {
        if (errno != ESLURM_INVALID_NODE_NAME) return failure("node " + name);
        NodeInSlurm unknown;
        unknown.known = false;
        return unknown;
    }
    const Nodes nodes(raw);
    for (std::uint32_t i = 0; i < nodes->record_count; ++i) {
        const node_info_t& info = nodes->node_array[i];
        if (info.name != nullptr && name == info.name) return node_from(info);
    }
    return Error{Code::unavailable, "slurmctld's answer is not about node " + name};
}

Result<void> drain(const std::string& name, std::uint64_t generation) {
    const Result<NodeInSlurm> node = look_at(name);
    if (!node) return node.error();
    if (!node.value().open() || node.value().power_saving) return {};
    return update(name, state_drain, drain_reason(generation));
}

Result<void> undrain(const std::string& name, std::uint64_t generation) {
    const Result<NodeInSlurm> node = look_at(name);
    if (!node) return node.error();
    if (!node.value().known || !node.value().drained) return {};
    const std::optional<std::uint64_t> ours = generation_of_reason(node.value().reason);
    if (!ours || *ours > generation) {
        return Error{Code::conflict, "node " + name + " is drained by somebody else: " + node.value().reason};
    }
    return update(name, state_undrain, std::string(undrain_reason));
}

}  // namespace llmgw::slurm_node
