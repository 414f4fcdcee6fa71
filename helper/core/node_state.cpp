#include "core/node_state.hpp"

#include "core/state_text.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view header = "llmgw-slurm-node 1";
constexpr const char* user_directories_key = "enroot.users";

}  // namespace

Result<NodeState> parse_node_state(std::string_view text) {
    const Result<StateFields> fields = parse_state_text(text, header);
    if (!fields) return fields.error();
    NodeState state;
    std::string ready;
    std::string oci;
    const auto take = [&](const char* key, std::string& into) -> Result<void> {
        Result<std::string> value = state_field(fields.value(), key);
        if (!value) return value.error();
        into = std::move(value).value();
        return {};
    };
    for (const auto& [key, into] : {std::pair{"machine", &state.machine},
                                    {"state", &ready},
                                    {"reason", &state.reason},
                                    {"boot", &state.boot},
                                    {"oci", &oci}}) {
        if (Result<void> taken = take(key, *into); !taken) return taken.error();
    }
    if (ready != "ready" && ready != "not-ready") return Error{Code::invalid, "has an unknown state"};
    if (oci != "yes" && oci != "no") return Error{Code::invalid, "has an unknown \"oci\""};
    state.ready = ready == "ready";
    state.oci = oci == "yes";
    if (!state.ready) return state;
    for (const auto& [key, into] : {std::pair{"pyxis.path", &state.pyxis_path},
                                    {"pyxis.fingerprint", &state.pyxis_fingerprint},
                                    {"enroot.path", &state.enroot_path},
                                    {"enroot.fingerprint", &state.enroot_fingerprint}}) {
        if (Result<void> taken = take(key, *into); !taken) return taken.error();
    }
    // Later than the rest: what an older helper wrote has none.
    if (const Result<std::string> parents = state_field(fields.value(), user_directories_key)) {
        for (const std::string_view parent : split(parents.value(), ':'))
            state.user_directories.emplace_back(parent);
    }
    return state;
}

std::string format_node_state(const NodeState& state) {
    StateFields fields{{"machine", state.machine},
                       {"state", state.ready ? "ready" : "not-ready"},
                       {"reason", state.reason},
                       {"boot", state.boot},
                       {"oci", state.oci ? "yes" : "no"}};
    if (state.ready) {
        fields.insert(fields.end(), {{"pyxis.path", state.pyxis_path},
                                     {"pyxis.fingerprint", state.pyxis_fingerprint},
                                     {"enroot.path", state.enroot_path},
                                     {"enroot.fingerprint", state.enroot_fingerprint}});
        if (!state.user_directories.empty())
            fields.emplace_back(user_directories_key, join(state.user_directories, ":"));
    }
    return format_state_text(header, fields);
}

}  // namespace llmgw
