#include "leader/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>

#include "core/shown.hpp"

namespace llmgw::leader {
namespace {

constexpr int usage_error = 2;

}  // namespace

Result<void> set_listen(Options& options, const std::string& text) {
    const Error wrong{Code::invalid, "--listen: " + shown(text) +
                                         " is no ADDRESS:PORT; for instance 127.0.0.1:8470 or [::1]:8470"};
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return wrong;
    std::string address = text.substr(0, colon);
    const bool bracketed = address.starts_with('[') && address.ends_with(']');
    if (bracketed) address = address.substr(1, address.size() - 2);
    if (address.empty() || bracketed != (address.find(':') != std::string::npos)) return wrong;
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
    if (error != std::errc{} || stop != end) return wrong;
    options.address = address;
    options.port = port;
    return {};
}

int parse_options(int argc, char** argv, Options& options, bool& leave) {
    CLI::App app("Serves llmgw's Slurm contract from a directory, for sites without llmgw",
                 "llmgw-slurm-leader");
    std::string listen;
    app.set_version_flag("--version", std::string(LLMGW_VERSION));
    app.add_option("--directory", options.directory, "settings, reports and tokens")->required();
    app.add_option("--listen", listen, "ADDRESS:PORT, 127.0.0.1:8470 unless given");
    app.add_option("--tls-cert", options.tls_cert, "certificate with its chain, PEM");
    app.add_option("--tls-key", options.tls_key, "its key, PEM");
    leave = true;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : usage_error;
    }
    if (!listen.empty()) {
        if (const Result<void> set = set_listen(options, listen); !set) {
            std::cerr << "llmgw-slurm-leader: " << set.error().message << '\n';
            return usage_error;
        }
    }
    leave = false;
    return 0;
}

}  // namespace llmgw::leader
