#include "posix/secret.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

// A token has 64 bytes; nothing longer is one.
constexpr std::size_t secret_bytes = 4096;

Error failure(const std::string& what, const std::string& path, int error_number) {
    return {error_number == ENOENT ? Code::missing : Code::internal,
            "cannot " + what + " " + path + ": " + reason_of(error_number)};
}

Result<void> check(const Descriptor& file, const std::string& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failure("stat", path, errno);
    if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is not a regular file"};
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
        return Error{Code::denied, path + " belongs to user " + std::to_string(status.st_uid) +
                                       ", who may know it and change it: make a new one, owned by user " +
                                       std::to_string(::geteuid())};
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error{Code::denied,
                     path +
                         " can be reached by others than its owner, so it may be known to them: make "
                         "a new one, or run chmod 600 on it if you are sure it is not"};
    }
    return {};
}

}  // namespace

Result<std::string> read_secret(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!file.open() && errno == ELOOP)
        return Error{Code::denied, path + " is a symbolic link: put the file there"};
    if (!file.open()) return failure("open", path, errno);
    if (Result<void> checked = check(file, path); !checked) return checked.error();
    std::string secret(secret_bytes + 1, '\0');
    std::size_t size = 0;
    while (size < secret.size()) {
        const ssize_t got = ::read(file.get(), secret.data() + size, secret.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure("read", path, errno);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    if (size > secret_bytes) {
        return Error{Code::too_large, path + " has more than " + std::to_string(secret_bytes) + " bytes"};
    }
    secret.resize(size);
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
    if (secret.empty()) return Error{Code::invalid, path + " is empty"};
    return secret;
}

Result<std::string> random_bytes(std::size_t bytes) {
    std::string random(bytes, '\0');
    // Up to 256 bytes come at once and whole, says random(7).
    constexpr std::size_t at_once = 256;
    for (std::size_t done = 0; done < bytes; done += at_once) {
        const std::size_t most = std::min(at_once, bytes - done);
        if (::getrandom(random.data() + done, most, 0) != static_cast<ssize_t>(most))
            return Error{Code::internal, "no random numbers: " + reason_of(errno)};
    }
    return random;
}

Result<std::string> random_hex(std::size_t bytes) {
    std::array<unsigned char, 256> random{};
    if (bytes > random.size()) return Error{Code::invalid, "more random bytes than can be had at once"};
    // Up to 256 bytes come at once and whole, says random(7).
    if (::getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {
        return Error{Code::internal, "no random numbers: " + reason_of(errno)};
    }
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text += digits[random.at(i) >> 4U];
        text += digits[random.at(i) & 15U];
    }
    return text;
}

}  // namespace llmgw
