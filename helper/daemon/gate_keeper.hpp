// Writes RUN/gate on the controller, and keeps what the admin forced.
#pragma once

#include <optional>
#include <string>

#include "core/gate_state.hpp"
#include "core/readiness.hpp"
#include "core/result.hpp"

namespace llmgw::daemon {

class GateKeeper {
  public:
    // Takes up what an earlier helper left: the forced mode from `state_dir`, the revision from RUN/gate.
    GateKeeper(const std::string& run_dir, const std::string& state_dir);

    [[nodiscard]] GateOverride forced() const noexcept { return forced_; }
    // Durable before it returns.
    Result<void> force(GateOverride mode);
    // Writes the file if it would say something else than it does.
    Result<void> publish(const Readiness& readiness, bool oci);
    // This machine is no controller: the file goes, if there is one.
    void withdraw();
    [[nodiscard]] const std::optional<GateState>& published() const noexcept { return published_; }

  private:
    std::string gate_path_;
    std::string forced_path_;
    GateOverride forced_ = GateOverride::automatic;
    std::optional<GateState> published_;
};

const char* text_of(GateOverride mode) noexcept;  // auto, open, closed
std::optional<GateOverride> override_from(const std::string& text);

}  // namespace llmgw::daemon
