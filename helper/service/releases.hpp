// conf/releases.json: which versions of pyxis and enroot a machine is to have.
#pragma once

#include <string>

#include "core/readiness.hpp"
#include "core/result.hpp"

namespace llmgw::service {

Result<WantedVersions> read_wanted_versions(const std::string& path);

}  // namespace llmgw::service
