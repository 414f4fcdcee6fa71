#include "core/gate_state.hpp"

#include <charconv>

#include "core/limits.hpp"
#include "core/state_text.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view header = "llmgw-slurm-gate 1";

}  // namespace

Result<GateState> parse_gate_state(std::string_view text) {
    const Result<StateFields> fields = parse_state_text(text, header);
    if (!fields) return fields.error();
    const Result<std::string> state = state_field(fields.value(), "state");
    const Result<std::string> revision = state_field(fields.value(), "revision");
    const Result<std::string> oci = state_field(fields.value(), "oci");
    const Result<std::string> message = state_field(fields.value(), "message");
    for (const Result<std::string>* field : {&state, &revision, &oci, &message}) {
        if (!*field) return field->error();
    }
    GateState gate;
    if (state.value() != "open" && state.value() != "closed")
        return Error{Code::invalid, "has an unknown state"};
    if (oci.value() != "yes" && oci.value() != "no") return Error{Code::invalid, "has an unknown \"oci\""};
    const std::string& digits = revision.value();
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), gate.revision);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
        return Error{Code::invalid, "has no proper revision"};
    }
    gate.open = state.value() == "open";
    gate.oci = oci.value() == "yes";
    gate.message = shortened(message.value(), limits::message_bytes);
    return gate;
}

std::string format_gate_state(const GateState& state) {
    return format_state_text(header, {{"state", state.open ? "open" : "closed"},
                                      {"revision", std::to_string(state.revision)},
                                      {"oci", state.oci ? "yes" : "no"},
                                      {"message", shortened(state.message, limits::message_bytes)}});
}

}  // namespace llmgw
