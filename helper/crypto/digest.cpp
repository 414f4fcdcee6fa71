#include "crypto/digest.hpp"

#include <array>

#include "crypto/openssl.hpp"

namespace llmgw::crypto {
namespace {

std::string hex_of(const unsigned char* bytes, std::size_t size, std::string_view digits) {
    std::string text;
    text.reserve(2 * size);
    for (std::size_t i = 0; i < size; ++i) {
        text += digits[bytes[i] >> 4U];
        text += digits[bytes[i] & 15U];
    }
    return text;
}

constexpr std::string_view lower = "0123456789abcdef";
constexpr std::string_view upper = "0123456789ABCDEF";

}  // namespace

struct Sha256::State {
    DigestContext context{EVP_MD_CTX_new()};
    bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view piece) {
    state_->good = state_->good && EVP_DigestUpdate(state_->context.get(), piece.data(), piece.size()) == 1;
}

Result<std::string> Sha256::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (!state_->good || EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) != 1) {
        return Error{Code::internal, "OpenSSL can't work out a SHA-256"};
    }
    state_->good = false;
    return hex_of(digest.data(), size, lower);
}

Result<std::string> sha256_hex(std::string_view text) {
    Sha256 digest;
    digest.update(text);
    return digest.hex();
}

Result<std::string> sha1_hex_upper(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
        return Error{Code::internal, "OpenSSL can't work out a SHA-1, which key fingerprints are made of"};
    }
    return hex_of(digest.data(), size, upper);
}

}  // namespace llmgw::crypto
