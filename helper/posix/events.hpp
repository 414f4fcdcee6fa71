// What a program's main loop polls for: signals, and changes in a directory.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

// Signals as something to poll. They are blocked in the calling thread and in those it starts later, so this
// comes before the first thread.
class Signals {
  public:
    static Result<Signals> block(const std::vector<int>& signals);
    [[nodiscard]] int fd() const noexcept { return file_.get(); }
    // The next one that came, without waiting.
    [[nodiscard]] std::optional<int> next() const;

  private:
    explicit Signals(Descriptor file) : file_(std::move(file)) {}
    Descriptor file_;
};

// Files of one directory that were written and closed, renamed to or from, or removed.
class DirectoryWatch {
  public:
    static Result<DirectoryWatch> open(const std::string& directory);
    [[nodiscard]] int fd() const noexcept { return file_.get(); }
    // Their names since the last call, without waiting; an empty name means that some were missed.
    [[nodiscard]] std::vector<std::string> changed() const;

  private:
    explicit DirectoryWatch(Descriptor file) : file_(std::move(file)) {}
    Descriptor file_;
};

// Waits until one of the descriptors can be read or `most` has passed.
void wait_for_any(const std::vector<int>& descriptors, std::chrono::milliseconds most);

// A lock that ends with the descriptor, or with this process however it ends. conflict: somebody else has it.
Result<Descriptor> lock_file(const std::string& path);

// The soft limit on open files up to the hard one.
void allow_all_open_files();

}  // namespace llmgw
