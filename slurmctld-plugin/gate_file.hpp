// The gate file, kept in memory and read again when it changed. Callable from any number of threads (24.11
// and later call job_submit concurrently); no lock is held while the file is looked at or read.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/gate_state.hpp"
#include "core/result.hpp"
#include "posix/file.hpp"

namespace llmgw::gate {

class GateFile {
  public:
    explicit GateFile(std::string path) : path_(std::move(path)) {}

    // The file's content as of now, or why it can't be trusted. One stat; a read only if the stamp changed.
    [[nodiscard]] std::shared_ptr<const Result<GateState>> state();

  private:
    struct Kept {
        FileStamp stamp;
        std::shared_ptr<const Result<GateState>> state;
    };

    [[nodiscard]] Kept kept();
    [[nodiscard]] std::shared_ptr<const Result<GateState>> read_and_keep();

    const std::string path_;
    std::mutex mutex_;  // only around copying kept_
    Kept kept_;
};

}  // namespace llmgw::gate
