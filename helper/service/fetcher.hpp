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
    // URL or absolute directory that has the files by name; empty: each file's own origin.
    std::string mirror;
    std::string ca_file;  // PEM; empty: the system's
    std::string proxy;    // empty: none
    std::chrono::seconds deadline{3600};
    // How long a server may bring nothing new before it is given up.
    std::chrono::milliseconds patience{120'000};
};

// Bytes of all files of the call together; `total` is of those whose size is known, 0 while none is. Called
// in the thread that called fetch_pinned(), a few times a second while something changes. `done` falls where
// a server sends a file again from its beginning.
using FetchProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Several at once. Those that are in the cache and right are not fetched; when all are, nothing is written.
// Cut connections are resumed, also by a later call. One error ends the others, too, whose parts stay. A
// second process that fetches into the same cache waits. Errors, each naming the file and its origin:
// unavailable, timeout, missing (it isn't there), denied (certificate; the cache isn't root's alone),
// too_large, invalid (the digest: what was expected, what came, its size; or the mirror or a pin can't be
// used), internal (no space: how much is needed and where).
Result<void> fetch_pinned(const std::vector<PinnedFile>& files, const FetchOptions& options,
                          const FetchProgress& progress, const std::stop_token& stop);

// Where it is once fetched. In a directory that only root can write.
std::string cached_path(const FetchOptions& options, const PinnedFile& file);
// There, root's alone, and its digest is right: reads the whole file.
bool is_cached(const FetchOptions& options, const PinnedFile& file);

}  // namespace llmgw::service
