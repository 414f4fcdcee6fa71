// Brings pinned files into the cache. A file is there under its name only after its digest was found right;
// what came with another digest is kept as NAME.rejected and never used.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/releases.hpp"
#include "core/result.hpp"

namespace llmgw::service {

struct FetchOptions {
    std::string cache = "/var/cache/llmgw-slurm";
    std::string
        mirror;  // URL or absolute directory that has the files by name; empty: each file's own origin
    std::string ca_file;  // PEM; empty: the system's
    std::string proxy;    // empty: none
    std::chrono::seconds deadline{3600};
};

// Bytes of all files of the call together; `total` 0 while no server has said one.
using FetchProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Several at once. Those that are in the cache and right are not fetched. Cut connections are resumed.
// Errors, each naming the file and its origin: unavailable, timeout, denied (certificate), too_large, invalid
// (the digest: what was expected, what came, its size), internal (no space: how much is needed and where).
Result<void> fetch_pinned(const std::vector<PinnedFile>& files, const FetchOptions& options,
                          const FetchProgress& progress, const std::stop_token& stop);

// Where it is once fetched. In a directory that only root can write.
std::string cached_path(const FetchOptions& options, const PinnedFile& file);
// There, root's alone, and its digest is right: reads the whole file.
bool is_cached(const FetchOptions& options, const PinnedFile& file);

}  // namespace llmgw::service
