// What slurmctld gives to its plugins: memory and a log. Linked instead of Slurm.
#pragma once

#include <string>
#include <vector>

#include "slurmctld_api.hpp"

namespace llmgw::fake {

// Lines logged, "error: ..." and so on.
std::vector<std::string>& log();

// A message as slurmctld hands it to a plugin and frees it.
class Message {
  public:
    Message() = default;
    ~Message();
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    char** out() { return &text_; }
    [[nodiscard]] std::string text() const { return text_ == nullptr ? "" : text_; }
    [[nodiscard]] bool empty() const { return text_ == nullptr; }

  private:
    char* text_ = nullptr;
};

}  // namespace llmgw::fake
