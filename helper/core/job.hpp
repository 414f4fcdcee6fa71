// Long work of the helper, as others see it: an object on the bus (docs/dbus.md), and what the command shows.
#pragma once

#include <cstdint>
#include <string>

namespace llmgw {

struct Job {
    std::uint32_t id = 0;
    std::string kind;               // "apply", "uninstall"
    std::string state = "running";  // then "done" or "failed"
    std::string step;               // "install enroot 4.2.1"
    std::uint32_t step_number = 0;  // from 1; 0: not begun
    std::uint32_t step_count = 0;
    std::uint64_t bytes_done = 0;   // of a download
    std::uint64_t bytes_total = 0;  // 0: not known
    std::string note;     // "waiting for apt-get (PID 4711), which holds /var/lib/dpkg/lock-frontend"
    std::string message;  // when it has ended: what came of it, or why it failed

    bool operator==(const Job&) const = default;
    [[nodiscard]] bool running() const { return state == "running"; }
};

}  // namespace llmgw
