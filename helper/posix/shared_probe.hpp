// Looks at the shared path from a process of its own: a file server that is gone holds whoever touches what
// is mounted from it, and not even SIGKILL always frees them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/storage_plan.hpp"

namespace llmgw {

// What /proc/self/mountinfo says about a path: by the mount that was made last at it or closest above it.
// Only of another file system than /'s: this process may see / more than once.
struct MountedAt {
    std::string point;
    std::string source;

    bool operator==(const MountedAt&) const = default;
};
[[nodiscard]] std::optional<MountedAt> mounted_at(std::string_view mountinfo, const std::string& path);

class SharedProbe {
  public:
    // `program` is one that calls look_at_shared_here() for `--look-at-shared PATH`. A process that did not
    // end is left alone, and until it does the answer is unanswering.
    SharedProbe(std::string program, std::chrono::milliseconds patience)
        : program_(std::move(program)), patience_(patience) {}
    ~SharedProbe() = default;
    SharedProbe(const SharedProbe&) = delete;
    SharedProbe& operator=(const SharedProbe&) = delete;

    // `exactly`: only what is mounted on the path itself counts, not what it lies in.
    SharedPath look(const std::string& path, bool exactly);

  private:
    [[nodiscard]] bool still_held();

    const std::string program_;
    const std::chrono::milliseconds patience_;
    std::mutex mutex_;
    pid_t held_ = 0;
};

// In this process, which may not come back; exit code.
int look_at_shared_here(const std::string& path);

}  // namespace llmgw
