#include "ctl/answer.hpp"

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "json/load.hpp"

namespace llmgw::ctl {

bus::HelperAddress helper_of(const Context& context) {
    return {context.bus_address, context.bus_name};
}

int failed(Context& context, const Error& error) {
    context.err << "llmgw-slurm: " << printable(error.message, limits::message_bytes) << '\n';
    return exit_failed;
}

Result<Value> parsed_answer(const std::string& text) {
    return json::parse(text, {limits::answer_bytes, limits::json_depth});
}

std::string text_at(const Value& value, std::string_view key) {
    const Value* found = value.find(key);
    return found == nullptr || found->text() == nullptr ? std::string()
                                                        : printable(*found->text(), limits::message_bytes);
}

bool flag_at(const Value& value, std::string_view key) {
    const Value* found = value.find(key);
    return found != nullptr && found->boolean() != nullptr && *found->boolean();
}

}  // namespace llmgw::ctl
