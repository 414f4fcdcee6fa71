#include "posix/task_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"

namespace llmgw {

Result<TaskOutput> TaskOutput::create(std::size_t most, OnLine on_line) {
    Descriptor file(::memfd_create("task-output", MFD_CLOEXEC));
    // Appending, as both outputs, and whoever opens /dev/stderr anew, write to it.
    if (!file.open() || ::fcntl(file.get(), F_SETFL, O_APPEND) != 0) {
        return Error{Code::internal, "cannot make a file for a task's output: " + reason_of(errno)};
    }
    return TaskOutput(std::move(file), most, std::move(on_line));
}

// "> /dev/stderr" in a script cuts a file that is one's standard error. What was read before is a hole, so a
// first byte that isn't zero was written after such a cut.
bool TaskOutput::was_cut() const {
    struct stat status {};
    char first = 0;
    if (::fstat(file_.get(), &status) == 0 && status.st_size < read_) return true;
    return read_ > 0 && ::pread(file_.get(), &first, 1, 0) == 1 && first != 0;
}

void TaskOutput::read() {
    if (was_cut()) read_ = 0;
    const off_t before = read_;
    std::array<char, 16 * 1024> buffer{};
    for (;;) {
        const ssize_t got = ::pread(file_.get(), buffer.data(), buffer.size(), read_);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        read_ += got;
        take({buffer.data(), static_cast<std::size_t>(got)});
        // What was read takes no memory any more.
        ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, before, read_ - before);
    }
}

void TaskOutput::finish() {
    read();
    pass_line();
}

void TaskOutput::take(std::string_view piece) {
    kept_.append(piece);
    if (kept_.size() > most_) kept_.erase(0, kept_.size() - most_);
    if (!on_line_) return;
    for (const char c : piece) {
        if (c == '\n' || c == '\r' || line_.size() == limits::task_line_bytes) pass_line();
        if (c != '\n' && c != '\r') line_ += c;
    }
}

// An empty line says nothing, and "\r\n" ends only one.
void TaskOutput::pass_line() {
    if (!line_.empty() && on_line_) on_line_(line_);
    line_.clear();
}

Error took_too_long(const Task& task, const std::string& output) {
    const std::string said = last_line(output);
    return {Code::timeout, task.argv.front() + " took longer than " + std::to_string(task.deadline.count()) +
                               " s and was ended" +
                               (said.empty() ? std::string() : "; its last line: " + shown(said))};
}

Error goes_on(const Task& task) {
    return {Code::unavailable, "the helper ends while " + task.argv.front() + " goes on"};
}

}  // namespace llmgw
