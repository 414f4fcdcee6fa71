// Attack surface: the node, gate and users files, which plugins read inside slurmstepd and slurmctld. Only
// root writes them, but a full disk, a crash or an older release may leave anything there. Whatever the bytes
// are, they are refused, or what was read is what is written again.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/gate_state.hpp"
#include "core/limits.hpp"
#include "core/node_state.hpp"
#include "core/state_text.hpp"
#include "core/users_state.hpp"
#include "fuzz/promise.hpp"

namespace llmgw::fuzz {

inline void state_text(std::string_view text) {
    const std::string header(text.substr(0, text.find('\n')));
    const Result<StateFields> fields = parse_state_text(text, header);
    if (fields) {
        std::set<std::string> keys;
        for (const auto& [key, value] : fields.value()) {
            must(keys.insert(key).second);
            must(one_printable_line(value) && !value.empty());
        }
        must(format_state_text(header, fields.value()) == text);
    } else {
        must(one_printable_line(fields.error().message) || !one_printable_line(header));
    }

    const Result<NodeState> node = parse_node_state(text);
    must(node || one_printable_line(node.error().message));
    if (node) {
        must(parse_node_state(format_node_state(node.value())).value() == node.value());
        must(!node.value().ready || (!node.value().pyxis_path.empty() && !node.value().enroot_path.empty() &&
                                     !node.value().pyxis_fingerprint.empty()));
    }

    const Result<UsersState> users = parse_users_state(text);
    must(users || one_printable_line(users.error().message));
    if (users) {
        must(parse_users_state(format_users_state(users.value())).value() == users.value());
        for (const UidRanges::Range& range : users.value().ours.ranges()) {
            const std::optional<std::string> said = refusal_of(users.value(), range.first);
            must(!said || (one_printable_line(*said) && said->size() <= limits::message_bytes));
        }
    }

    const Result<GateState> gate = parse_gate_state(text);
    must(gate || one_printable_line(gate.error().message));
    if (gate) {
        must(parse_gate_state(format_gate_state(gate.value())).value() == gate.value());
        must(gate.value().message.size() <= limits::message_bytes &&
             one_printable_line(gate.value().message));
    }
}

}  // namespace llmgw::fuzz
