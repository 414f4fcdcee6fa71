// Logins from e-mail addresses: the same on every machine, whatever comes first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/uid_ranges.hpp"

namespace llmgw {

// What an address would be called if it were the only one: what is before the @, in lower case; everything
// but a-z, 0-9 and _ is a dash, several in a row are one, none is at an end; before anything that does not
// begin with a letter stands a "u". At most 32 characters.
[[nodiscard]] std::string login_base(std::string_view email);

// Names that systems and packages use, whether they are on this machine or not, or begin with what they
// begin with: a group of that name may give rights (sudo, docker).
[[nodiscard]] bool is_reserved_login(std::string_view login);

struct LoginOwner {
    std::string email;
    Uid uid = 0;
};

// One for each, in their order. Of those with one base the lowest number has it, all others, and those whose
// base is reserved or looks like such a name, have "-UID" behind theirs. Accounts stay in the list for good
// (docs/contract.openapi.yaml), so that nobody's login changes.
[[nodiscard]] std::vector<std::string> logins_of(const std::vector<LoginOwner>& owners);

}  // namespace llmgw
