// A counter that never gives a value twice, not over restarts and power failures either.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.hpp"

namespace llmgw::leader {

// The file holds a value that no revision has passed. It is raised by `stride` at a time, before any of the
// values up to it is given out: a counter that moves often touches its file rarely, and skips some values
// over a restart. Not for several threads at once.
class Revision {
  public:
    // A missing file begins at 0. Give nothing out before the first raise(). invalid: the file is garbage.
    static Result<Revision> open(std::string path, std::uint64_t stride);

    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
    // On an error (the disk is full) the value stays as it is.
    Result<void> raise();

  private:
    Revision(std::string path, std::uint64_t stride, std::uint64_t mark)
        : path_(std::move(path)), stride_(stride), value_(mark), mark_(mark) {}

    std::string path_;
    std::uint64_t stride_;
    std::uint64_t value_;
    std::uint64_t mark_;
};

}  // namespace llmgw::leader
