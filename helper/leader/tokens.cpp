#include "leader/tokens.hpp"

#include <strings.h>

#include <algorithm>

#include "core/secret.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/secret.hpp"

namespace llmgw::leader {
namespace {

constexpr std::size_t new_token_bytes = 32;
// 16 random bytes in hexadecimal: what an admin who makes their own should not go below.
constexpr std::size_t shortest = 32;

// What a Bearer token may consist of (RFC 6750, b64token).
bool is_plain(std::string_view token) {
    constexpr std::string_view allowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";
    return token.find_first_not_of(allowed) == std::string_view::npos;
}

Result<std::string> load(const std::string& path) {
    Result<std::string> token = read_secret(path);
    if (!token && token.error().code == Code::missing) {
        token = random_hex(new_token_bytes);
        if (!token) return token;
        const Result<void> kept =
            write_file_atomically(path, token.value() + "\n", 0600, Durability::durable);
        if (!kept) return kept.error();
    }
    if (!token) return token;
    if (token.value().size() < shortest || !is_plain(token.value())) {
        return Error{Code::invalid, path + " has no token of at least " + std::to_string(shortest) +
                                        " letters, digits, - . _ ~ + / =: remove it, and a new one is made"};
    }
    return token;
}

}  // namespace

Result<Tokens> load_tokens(const std::string& directory) {
    Result<std::string> admin = load(directory + "/token.admin");
    if (!admin) return admin.error();
    Result<std::string> machine = load(directory + "/token.machine");
    if (!machine) return machine.error();
    if (admin.value() == machine.value()) {
        return Error{Code::invalid, directory +
                                        "/token.admin and token.machine are the same, so every machine could "
                                        "act as an admin: remove one, and a new one is made"};
    }
    return Tokens{std::move(admin).value(), std::move(machine).value()};
}

Caller caller_of(const Tokens& tokens, std::string_view authorization) {
    constexpr std::string_view scheme = "Bearer ";
    if (authorization.size() < scheme.size() ||
        ::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0) {
        return Caller::nobody;
    }
    const std::string_view token = trimmed(authorization.substr(scheme.size()));
    // Both are always compared, so that the time says nothing about which one was close.
    const bool admin = equal_in_constant_time(token, tokens.admin);
    const bool machine = equal_in_constant_time(token, tokens.machine);
    return admin ? Caller::admin : machine ? Caller::machine : Caller::nobody;
}

}  // namespace llmgw::leader
