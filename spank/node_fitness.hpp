// Whether this node can be trusted with a container step: what the helper verified is still what is here.
#pragma once

#include <optional>
#include <string>

#include "guard.hpp"

namespace llmgw::guard {

// The one reason why not, or nothing. `pyxis` is the path pyxis was loaded from, empty if it wasn't.
std::optional<std::string> unfitness(const Arguments& arguments, const std::string& pyxis);

// False only where the helper says that Slurm has no oci.conf.
bool oci_runtime_or_unknown(const Arguments& arguments);

}  // namespace llmgw::guard
