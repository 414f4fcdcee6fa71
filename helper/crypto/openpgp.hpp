// OpenPGP public keys (RFC 4880): just enough to say which key a file has. Signatures are left to the package
// managers.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw::crypto {

// The packets of an armored public key. invalid: anything but one armored block with blanks around it, a
// broken line, or a checksum that doesn't fit (a truncated download).
Result<std::string> dearmored(std::string_view text);

// The v4 fingerprint of the primary key in a file, 40 upper-case hexadecimal digits. The file must be one
// public key with what belongs to it (user ids, signatures, subkeys), whole, and nothing else: a second
// primary key would be trusted by a package manager without anybody having looked at it. Armored or binary,
// at most limits::openpgp_key_bytes. Errors: invalid, too_large, internal.
Result<std::string> primary_fingerprint(std::string_view armored_or_binary);

}  // namespace llmgw::crypto
