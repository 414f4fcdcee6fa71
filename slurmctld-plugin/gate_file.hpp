// The files that the helper on the controller writes and the gate reads.
#pragma once

#include "core/gate_state.hpp"
#include "core/limits.hpp"
#include "core/users_state.hpp"
#include "kept_file.hpp"

namespace llmgw::gate {

class GateFile final : public KeptFile<GateState> {
  public:
    explicit GateFile(std::string path)
        : KeptFile(std::move(path), parse_gate_state, limits::state_file_bytes) {}
};

class UsersFile final : public KeptFile<UsersState> {
  public:
    explicit UsersFile(std::string path)
        : KeptFile(std::move(path), parse_users_state, limits::users_file_bytes) {}
};

}  // namespace llmgw::gate
