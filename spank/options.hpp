// pyxis's options where pyxis isn't loaded: on a submit host without it people get the cluster's answer
// instead of "unrecognized option", and on a node without it an option that arrives is seen instead of
// dropped with a warning.
#pragma once

#include "spank_api.hpp"

namespace llmgw::options {

// Registers the options of pyxis 0.24.0 unless spank_pyxis.so is mapped. Slurm forwards an option as
// "plugin:name", so the plugin that registers them must be called "pyxis", and a job submitted through them
// is an ordinary pyxis job on a node that has it.
void register_unless_pyxis(spank_t spank);

}  // namespace llmgw::options
