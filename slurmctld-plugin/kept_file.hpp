// A state file, kept in memory and read again when it changed. Callable from any number of threads (24.11 and
// later call job_submit concurrently); no lock is held while the file is looked at or read.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.hpp"
#include "posix/file.hpp"

namespace llmgw::gate {

template <class State>
class KeptFile {
  public:
    using Parse = Result<State> (*)(std::string_view text);

    KeptFile(std::string path, Parse parse, std::size_t most)
        : path_(std::move(path)), parse_(parse), most_(most) {}

    // The file's content as of now, or why it can't be trusted. One stat; a read only if the stamp changed.
    [[nodiscard]] std::shared_ptr<const Result<State>> state() {
        const Result<FileStamp> stamp = stamp_of(path_);
        if (!stamp) return std::make_shared<const Result<State>>(stamp.error());
        if (Kept last = kept(); last.state && last.stamp == stamp.value()) return last.state;
        return read_and_keep();
    }

  private:
    struct Kept {
        FileStamp stamp;
        std::shared_ptr<const Result<State>> state;
    };

    [[nodiscard]] Kept kept() {
        const std::lock_guard lock(mutex_);
        return kept_;
    }

    [[nodiscard]] std::shared_ptr<const Result<State>> read_and_keep() {
        Result<StateFile> file = read_state_file(path_, most_);
        if (!file) return std::make_shared<const Result<State>>(file.error());
        Result<State> parsed = parse_(file.value().content);
        if (!parsed) parsed = Error{parsed.error().code, path_ + " " + parsed.error().message};
        Kept fresh{file.value().stamp, std::make_shared<const Result<State>>(std::move(parsed))};
        const std::lock_guard lock(mutex_);
        kept_ = fresh;
        return fresh.state;
    }

    const std::string path_;
    const Parse parse_;
    const std::size_t most_;
    std::mutex mutex_;  // only around copying kept_
    Kept kept_;
};

}  // namespace llmgw::gate
