// Attack surface: the public key of a package repository. It comes over the network, and root reads it to say
// whose key it is before a package manager trusts it. Whatever the bytes are, reading them must end, must not
// lose memory, and must either refuse with one printable line or give a fingerprint that is the same for the
// armored and the binary key.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "crypto/openpgp.hpp"
#include "fuzz/promise.hpp"

namespace llmgw::fuzz {

inline bool is_fingerprint(const std::string& text) {
    return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
           });
}

inline void openpgp(std::string_view text) {
    const Result<std::string> fingerprint = crypto::primary_fingerprint(text);
    if (!fingerprint) {
        must(one_printable_line(fingerprint.error().message) && !fingerprint.error().message.empty());
        return;
    }
    must(is_fingerprint(fingerprint.value()));
    if (const Result<std::string> packets = crypto::dearmored(text); packets.ok()) {
        must(crypto::primary_fingerprint(packets.value()).value() == fingerprint.value());
    }
}

}  // namespace llmgw::fuzz
