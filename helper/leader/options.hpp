// The leader's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/limits.hpp"
#include "core/result.hpp"

namespace llmgw::leader {

struct Options {
    std::string directory;
    std::string address = "127.0.0.1";
    std::uint16_t port = 8470;
    std::string tls_cert;  // paths of PEM files; empty: plain HTTP, on loopback only
    std::string tls_key;
    std::chrono::milliseconds longest_lease_pause = limits::longest_lease_pause;  // tests have less time
};

// "127.0.0.1:8470", "[::1]:8470".
Result<void> set_listen(Options& options, const std::string& text);

// Fills `options`, or says why not (or the help) on the right stream, sets `leave` and returns an exit code.
int parse_options(int argc, char** argv, Options& options, bool& leave);

}  // namespace llmgw::leader
