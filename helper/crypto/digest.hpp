// Digests, as pins and key fingerprints have them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace llmgw::crypto {

// SHA-256 of what comes in pieces. One thread at a time.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    void update(std::string_view piece);
    // 64 lower-case hexadecimal digits; of everything so far, and the last thing that is asked of it.
    // Error (internal): OpenSSL has no memory or no SHA-256.
    Result<std::string> hex();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

Result<std::string> sha256_hex(std::string_view text);

// 40 upper-case hexadecimal digits, as fingerprints are written. Good for naming a key, for nothing else.
Result<std::string> sha1_hex_upper(std::string_view text);

}  // namespace llmgw::crypto
