#include "service/cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "crypto/digest.hpp"
#include "http/part_file.hpp"
#include "posix/events.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

Error failure(const std::string& what, const std::string& path, int error_number) {
    return {error_number == ENOENT ? Code::missing : Code::internal,
            "cannot " + what + " " + path + ": " + reason_of(error_number)};
}

bool is_owner_trusted(const struct stat& status) {
    return status.st_uid == 0 || status.st_uid == ::geteuid();
}

Error unsafe(const std::string& path, const std::string& why) {
    return {Code::denied, path + " is not used: " + why};
}

// Whoever can write a parent can put another directory there, unless the sticky bit keeps them from it.
Result<void> check_parents(const std::string& path) {
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos;
         slash = slash == 0 ? std::string::npos : path.rfind('/', slash - 1)) {
        const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
        struct stat status {};
        if (::stat(parent.c_str(), &status) != 0) return failure("look at", parent, errno);
        if (!is_owner_trusted(status)) {
            return unsafe(path,
                          parent + " belongs to user " + std::to_string(status.st_uid) + ", give it to root");
        }
        if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0)
            return unsafe(path, "others than root can write in " + parent + ", run chmod go-w on it");
    }
    return {};
}

Result<FileDigest> digest_of(int fd, const std::string& path, const std::stop_token& stop) {
    crypto::Sha256 digest;
    std::uint64_t size = 0;
    std::array<char, std::size_t{128} * 1024> buffer{};
    for (;;) {
        if (stop.stop_requested())
            return Error{Code::unavailable, "given up, since this program is stopping"};
        const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(size));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure("read", path, errno);
        if (got == 0) break;
        digest.update({buffer.data(), static_cast<std::size_t>(got)});
        size += static_cast<std::uint64_t>(got);
    }
    Result<std::string> hex = digest.hex();
    if (!hex) return hex.error();
    return FileDigest{std::move(hex).value(), size};
}

}  // namespace

Result<Cache> Cache::open(const std::string& path) {
    if (!path.starts_with('/')) return Error{Code::invalid, path + " is no absolute path"};
    // A slash at the end would follow a link.
    const std::string name = path.substr(0, path.find_last_not_of('/') + 1);
    if (Result<void> safe = check_parents(name); !safe) return safe.error();
    Descriptor directory(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory.open() && (errno == ELOOP || errno == ENOTDIR))
        return unsafe(name, "it is a symbolic link, or no directory");
    if (!directory.open()) return failure("open", name, errno);
    struct stat status {};
    if (::fstat(directory.get(), &status) != 0) return failure("look at", name, errno);
    if (!is_owner_trusted(status))
        return unsafe(name, "it belongs to user " + std::to_string(status.st_uid) + ", give it to root");
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return unsafe(name, "others than root can write in it, run chmod go-w on it");
    return Cache(name, std::move(directory));
}

Result<Cache> Cache::open_or_make(const std::string& path) {
    struct stat status {};
    if (path.starts_with('/') && ::lstat(path.c_str(), &status) != 0 && errno == ENOENT) {
        if (Result<void> made = make_directories(path, 0755); !made) return made.error();
    }
    return open(path);
}

bool Cache::has(const PinnedFile& file) const {
    const Descriptor content(::openat(directory(), file.name.c_str(), read_flags));
    struct stat status {};
    if (!content.open() || ::fstat(content.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        !is_owner_trusted(status) || status.st_nlink != 1 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return false;
    const Result<FileDigest> digest = digest_of(content.get(), file.name, {});
    return digest && digest.value().sha256 == file.sha256;
}

Result<FileDigest> Cache::digest_of_part(const PinnedFile& file, const std::stop_token& stop) const {
    const std::string name = http::PartFile::part_name(file.name);
    const Descriptor content(::openat(directory(), name.c_str(), read_flags));
    if (!content.open()) return failure("open", path_ + "/" + name, errno);
    return digest_of(content.get(), path_ + "/" + name, stop);
}

Result<void> Cache::publish(const PinnedFile& file) const {
    const std::string part = http::PartFile::part_name(file.name);
    const std::string target = path_ + "/" + file.name;
    const Descriptor content(::openat(directory(), part.c_str(), read_flags));
    // Package managers read with another user's rights.
    if (!content.open() || ::fchmod(content.get(), 0644) != 0 || ::fsync(content.get()) != 0)
        return failure("keep", target, errno);
    if (::renameat(directory(), part.c_str(), directory(), file.name.c_str()) != 0)
        return failure("put in place", target, errno);
    http::PartFile::remove(directory(), file.name);
    if (::fsync(directory()) != 0) return failure("keep", target, errno);
    return {};
}

Result<void> Cache::reject(const PinnedFile& file) const {
    const std::string part = http::PartFile::part_name(file.name);
    const std::string rejected = file.name + ".rejected";
    if (::renameat(directory(), part.c_str(), directory(), rejected.c_str()) != 0)
        return failure("put aside", path_ + "/" + part, errno);
    http::PartFile::remove(directory(), file.name);
    return {};
}

void Cache::discard_part(const PinnedFile& file) const {
    http::PartFile::remove(directory(), file.name);
}

Result<Descriptor> Cache::lock() const {
    return lock_file(path_ + "/.lock");
}

Result<std::uint64_t> Cache::room() const {
    struct statvfs status {};
    if (::fstatvfs(directory(), &status) != 0) return failure("look at the space of", path_, errno);
    return std::uint64_t{status.f_bavail} * std::uint64_t{status.f_frsize};
}

}  // namespace llmgw::service
