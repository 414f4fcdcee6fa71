// Who may ask what. Two bearer tokens, in files of the leader's directory: `machine` for helpers, `admin` for
// people and programs that change something.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw::leader {

struct Tokens {
    std::string admin;
    std::string machine;
};

enum class Caller { nobody, machine, admin };

// token.admin and token.machine, each made (mode 0600) where it is missing. A file that others can read, a
// token shorter than 32 characters, or the same one twice is refused, with what to do.
Result<Tokens> load_tokens(const std::string& directory);

// By an Authorization header. Takes the same time for all tokens of the right length.
Caller caller_of(const Tokens& tokens, std::string_view authorization);

}  // namespace llmgw::leader
