// What the subcommands do with answers of the helper. Parts of them come from the leader and other machines.
#pragma once

#include <string>
#include <string_view>

#include "bus/client.hpp"
#include "core/result.hpp"
#include "core/value.hpp"
#include "ctl/context.hpp"

namespace llmgw::ctl {

bus::HelperAddress helper_of(const Context& context);
// Says why in `context.err`; exit_failed.
int failed(Context& context, const Error& error);

Result<Value> parsed_answer(const std::string& text);
// A member of an object, harmless for a terminal; empty where there is none.
std::string text_at(const Value& value, std::string_view key);
bool flag_at(const Value& value, std::string_view key);

}  // namespace llmgw::ctl
