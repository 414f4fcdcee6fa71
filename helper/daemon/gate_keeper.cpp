#include "daemon/gate_keeper.hpp"

#include <unistd.h>

#include "core/limits.hpp"
#include "posix/file.hpp"

namespace llmgw::daemon {
namespace {

constexpr std::size_t mode_bytes = 64;
constexpr mode_t everyone_reads = 0644;

}  // namespace

const char* text_of(GateOverride mode) noexcept {
    switch (mode) {
        case GateOverride::open:
            return "open";
        case GateOverride::closed:
            return "closed";
        case GateOverride::automatic:
            break;
    }
    return "auto";
}

std::optional<GateOverride> override_from(const std::string& text) {
    for (const GateOverride mode : {GateOverride::automatic, GateOverride::open, GateOverride::closed}) {
        if (text == text_of(mode)) return mode;
    }
    return std::nullopt;
}

GateKeeper::GateKeeper(const std::string& run_dir, const std::string& state_dir)
    : gate_path_(run_dir + "/gate"), forced_path_(state_dir + "/gate-mode") {
    if (const Result<StateFile> file = read_state_file(gate_path_, limits::state_file_bytes)) {
        if (Result<GateState> state = parse_gate_state(file.value().content))
            published_ = std::move(state).value();
    }
    if (const Result<StateFile> file = read_state_file(forced_path_, mode_bytes)) {
        const std::string& text = file.value().content;
        forced_ = override_from(text.substr(0, text.find('\n'))).value_or(GateOverride::automatic);
    }
}

Result<void> GateKeeper::force(GateOverride mode) {
    const std::string text = std::string(text_of(mode)) + "\n";
    Result<void> written = write_file_atomically(forced_path_, text, everyone_reads, Durability::durable);
    if (written) forced_ = mode;
    return written;
}

Result<void> GateKeeper::publish(const Readiness& readiness, bool oci) {
    GateState next{readiness.open, published_ ? published_->revision : 0, oci, readiness.message};
    // As it will be read, cut and cleaned: what was written is what the next one is compared with.
    if (Result<GateState> read = parse_gate_state(format_gate_state(next))) next = std::move(read).value();
    if (published_ && next == *published_ && state_file_says(gate_path_, format_gate_state(next))) return {};
    ++next.revision;
    Result<void> written =
        write_file_atomically(gate_path_, format_gate_state(next), everyone_reads, Durability::volatile_);
    if (written) published_ = std::move(next);
    return written;
}

void GateKeeper::withdraw() {
    published_.reset();
    ::unlink(gate_path_.c_str());
}

}  // namespace llmgw::daemon
