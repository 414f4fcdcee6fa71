// The one owner of a json_t. Nothing outside this folder includes jansson.
#pragma once

#include <jansson.h>

#include <memory>

namespace llmgw::json {

struct Release {
    void operator()(json_t* value) const noexcept { json_decref(value); }
};

using Handle = std::unique_ptr<json_t, Release>;

}  // namespace llmgw::json
