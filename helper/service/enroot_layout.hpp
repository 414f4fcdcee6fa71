// How enroot is configured on this machine, read from its files.
#pragma once

#include <string>
#include <vector>

#include "core/machine_files.hpp"
#include "core/result.hpp"

namespace llmgw::service {

struct EnrootPlaces {
    std::string program = "/usr/bin/enroot";
    std::string directory = "/etc/enroot";
    std::string tmpfiles_directory = "/etc/tmpfiles.d";
    // Where a slurmd under systemd, and so pyxis, looks for enroot (systemd.exec(5), PATH).
    std::vector<std::string> path = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                     "/usr/bin",        "/sbin",          "/bin"};
};

// Without enroot: what its package will bring. Errors: a configuration that can't be read, or of ours that
// somebody cut in half.
Result<EnrootLayout> read_enroot_layout(const EnrootPlaces& places);

}  // namespace llmgw::service
