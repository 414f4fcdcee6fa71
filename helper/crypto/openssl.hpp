// The handle types for OpenSSL's resources. Nothing outside this folder includes OpenSSL.
#pragma once

#include <openssl/evp.h>

#include <memory>

namespace llmgw::crypto {

struct DigestRelease {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

using DigestContext = std::unique_ptr<EVP_MD_CTX, DigestRelease>;

}  // namespace llmgw::crypto
