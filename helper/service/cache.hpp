// The directory of fetched files: root's alone, and everything in it under its name is right.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "core/releases.hpp"
#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::service {

struct FileDigest {
    std::string sha256;
    std::uint64_t size = 0;

    bool operator==(const FileDigest&) const = default;
};

class Cache {
  public:
    // denied: a symbolic link, somebody else's, or one that others may write or replace. missing: it isn't
    // there.
    static Result<Cache> open(const std::string& path);
    // The same, but makes it (0755) if it isn't there.
    static Result<Cache> open_or_make(const std::string& path);

    [[nodiscard]] int directory() const noexcept { return directory_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    // Whether NAME is a plain file that only root can write, with the pinned digest. Reads all of it.
    [[nodiscard]] bool has(const PinnedFile& file) const;
    // What NAME.part has become.
    Result<FileDigest> digest_of_part(const PinnedFile& file, const std::stop_token& stop) const;
    // NAME.part is NAME now, 0644, and stays it through a crash. Its digest was right.
    Result<void> publish(const PinnedFile& file) const;
    // NAME.part is NAME.rejected now, readable by root only.
    Result<void> reject(const PinnedFile& file) const;
    void discard_part(const PinnedFile& file) const;

    // Other processes that fetch into it wait. conflict: one of them has it now.
    Result<Descriptor> lock() const;
    // Bytes that can be written into it.
    Result<std::uint64_t> room() const;

  private:
    Cache(std::string path, Descriptor directory)
        : path_(std::move(path)), directory_(std::move(directory)) {}

    std::string path_;
    Descriptor directory_;
};

}  // namespace llmgw::service
