// One pinned file into the cache; several of them run at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

#include "core/releases.hpp"
#include "core/result.hpp"
#include "service/cache.hpp"
#include "service/fetch_origin.hpp"
#include "service/fetcher.hpp"

namespace llmgw::service {

// How far each file is, for progress, and for what it may still write.
struct FetchState {
    explicit FetchState(std::size_t files) : done(files), total(files) {}

    std::vector<std::atomic<std::uint64_t>> done;
    std::vector<std::atomic<std::uint64_t>> total;  // 0: unknown
    std::mutex room;                                // while somebody looks whether theirs fits
};

struct FileFetch {
    const PinnedFile& file;
    const FetchOrigin& origin;
    std::size_t index;  // in `state`
    const Cache& cache;
    const FetchOptions& options;
    std::chrono::steady_clock::time_point end;
    FetchState& state;
};

Result<void> fetch_file(const FileFetch& fetch, const std::stop_token& stop);

}  // namespace llmgw::service
