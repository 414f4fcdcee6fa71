// What a task prints. It goes to a file without a name rather than through a pipe: the writer must not be
// ended by SIGPIPE, nor stand still, when the helper that reads is gone.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/task_runner.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

class TaskOutput {
  public:
    using OnLine = std::function<void(std::string_view)>;

    // `most`: bytes that kept() holds; the first ones go.
    static Result<TaskOutput> create(std::size_t most, OnLine on_line);

    // For standard output and error of the task.
    [[nodiscard]] int fd() const noexcept { return file_.get(); }
    // What came since the last call; whole lines are passed on. '\n' and '\r' end one; one that is longer
    // than limits::task_line_bytes comes in pieces.
    void read();
    // The same, and the last line if nothing ended it.
    void finish();
    [[nodiscard]] const std::string& kept() const noexcept { return kept_; }

  private:
    TaskOutput(Descriptor file, std::size_t most, OnLine on_line)
        : file_(std::move(file)), most_(most), on_line_(std::move(on_line)) {}
    [[nodiscard]] bool was_cut() const;
    void take(std::string_view piece);
    void pass_line();

    Descriptor file_;
    std::size_t most_;
    OnLine on_line_;
    off_t read_ = 0;
    std::string kept_;
    std::string line_;
};

// "apt-get took longer than 600 s and was ended; its last words: ..."
Error took_too_long(const Task& task, const std::string& output);
// The answer where `stop` was requested.
Error goes_on(const Task& task);

}  // namespace llmgw
