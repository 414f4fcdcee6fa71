// systemd's manager, as far as a transient unit needs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bus/connection.hpp"
#include "bus/transient_unit.hpp"
#include "core/result.hpp"

namespace llmgw::bus {

class Systemd {
  public:
    // Of one unit. Errors: unavailable.
    static Result<Systemd> connect(const std::string& bus_address, const std::string& unit);

    [[nodiscard]] Result<ManagerFacts> facts() const;

    enum class Start { started, exists };
    // Code::denied, unavailable, invalid (a property that this systemd doesn't know).
    [[nodiscard]] Result<Start> start(const std::vector<UnitProperty>& properties, int output);

    struct State {
        bool job = false;      // something is still to be done with it
        bool running = false;  // or on its way up or down
        bool failed = false;
    };
    [[nodiscard]] Result<State> state() const;
    [[nodiscard]] Result<UnitEnd> end() const;
    // So that a failed unit's name is free.
    void forget_failure();

    // Waits for a change of the unit, for `other` (a descriptor) or until `most` has passed; true: something
    // came from systemd. Errors: unavailable: the connection is gone.
    [[nodiscard]] Result<bool> wait(int other, std::chrono::milliseconds most);

  private:
    Systemd(Connection bus, std::string unit, std::string path)
        : bus_(std::move(bus)), unit_(std::move(unit)), path_(std::move(path)) {}
    Connection bus_;
    std::string unit_;  // "NAME.service"
    std::string path_;
};

// Whether somebody has systemd's name on that bus. Without an answer it is taken to be so: the bus is busy.
bool systemd_is_on(const std::string& bus_address);

}  // namespace llmgw::bus
