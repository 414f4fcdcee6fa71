// The cluster's munge key: DIR/munge-key, base64, made on first use.
#pragma once

#include <string>

#include "core/result.hpp"

namespace llmgw::leader {

// As base64. Kept for good (0600) before it is given out: machines that had different ones would not
// understand each other. Errors: denied, invalid: the file there is none of ours to trust; internal: the
// disk. One thread at a time.
Result<std::string> load_munge_key(const std::string& directory);

}  // namespace llmgw::leader
