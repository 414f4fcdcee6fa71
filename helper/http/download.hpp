// One file from a server into a directory, however often the connection is cut.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/limits.hpp"
#include "core/result.hpp"

namespace llmgw::http {

struct Download {
    std::string url;
    int directory = -1;    // held open by the caller; root's alone
    std::string name;      // what comes is in NAME.part; to check it and give it its name is the caller's
    std::string identity;  // what the file is to become, such as its digest: a part of another isn't resumed
    std::uint64_t max_bytes = limits::download_bytes;
    std::string ca_file;  // PEM; empty: the system's
    std::string proxy;    // empty: none

    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds deadline{3'600'000};  // for everything
    // How long tries go on without one more byte than ever before.
    std::chrono::milliseconds patience{120'000};
    // A connection that brings less than this for so long is cut, and resumed.
    long slow_bytes_per_second = 1024;
    std::chrono::seconds slow_for{60};
    // Between tries: doubled each time that brought nothing, and never exactly the same on two machines.
    std::chrono::milliseconds first_pause{500};
    std::chrono::milliseconds longest_pause{30'000};

    // Asked before the first byte of an answer is written: how many are to come, where the server says so.
    std::function<Result<void>(std::optional<std::uint64_t> missing)> admit;
    // After each piece, in the calling thread; `total` 0 while no server has said one.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct Downloaded {
    std::uint64_t size = 0;
    // It came in one answer, to an end that was announced. What was put together of several, or ended with
    // the connection, may be wrong without anybody having meant it.
    bool in_one_piece = false;

    bool operator==(const Downloaded&) const = default;
};

// Redirects are followed from https to https, or to the same place on loopback, limits::redirects at most.
// Errors, each naming the URL: invalid (the URL, a redirect that isn't followed), missing (404, 410), denied
// (401, 403, the certificate), too_large, timeout (the deadline), unavailable (nothing came for `patience`,
// or an answer that trying again won't change, or `stop`), internal (the file, no space). On too_large and
// where there is no space the part is removed; else it stays, to be resumed by the next call.
Result<Downloaded> download(const Download& what, const std::stop_token& stop = {});

}  // namespace llmgw::http
