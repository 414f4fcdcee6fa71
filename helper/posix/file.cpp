#include "posix/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/text.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {
namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

FileStamp stamp_of(const struct stat& status) {
    return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
            static_cast<std::int64_t>(status.st_size),
            status.st_mtim.tv_sec * ns_per_second + status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec * ns_per_second + status.st_ctim.tv_nsec};
}

Error failure(const std::string& what, const std::string& path, int error_number) {
    const Code code = error_number == ENOENT || error_number == ENOTDIR ? Code::missing
                      : error_number == EACCES || error_number == EPERM ? Code::denied
                                                                        : Code::internal;
    return {code, "cannot " + what + " " + path + ": " + reason_of(error_number)};
}

Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes) {
    std::string content;
    for (;;) {
        constexpr std::size_t step = 16 * 1024;
        const std::size_t before = content.size();
        content.resize(before + step);
        const ssize_t got = ::read(fd, content.data() + before, step);
        const int error_number = errno;
        content.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && error_number == EINTR) continue;
        if (got < 0) return failure("read", path, error_number);
        if (content.size() > max_bytes) {
            return Error{Code::too_large, path + " has more than " + std::to_string(max_bytes) + " bytes"};
        }
        if (got == 0) return content;
    }
}

Result<StateFile> open_and_read(const std::string& path, std::size_t max_bytes, bool trusted) {
    // O_NONBLOCK: opening a pipe that somebody put there must not wait for a writer.
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (trusted ? O_NOFOLLOW : 0);
    const Descriptor file(::open(path.c_str(), flags));
    if (!file.open()) return failure("open", path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failure("stat", path, errno);
    if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is not a regular file"};
    if (trusted && status.st_uid != 0 && status.st_uid != ::geteuid()) {
        return Error{Code::denied,
                     path + " belongs to user " + std::to_string(status.st_uid) + ", not to root"};
    }
    if (trusted && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error{Code::denied, path + " can be written by others than its owner"};
    }
    if (status.st_size > 0 && static_cast<std::uint64_t>(status.st_size) > max_bytes) {
        return Error{Code::too_large, path + " has more than " + std::to_string(max_bytes) + " bytes"};
    }
    Result<std::string> content = read_all(file.get(), path, max_bytes);
    if (!content) return content.error();
    return StateFile{std::move(content).value(), stamp_of(status)};
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failure("write", path, errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> fill(int fd, std::string_view content, mode_t mode, Durability durability,
                  const std::string& path) {
    if (::fchmod(fd, mode) != 0) return failure("set the mode of", path, errno);
    if (Result<void> written = write_all(fd, content, path); !written) return written;
    if (durability == Durability::durable && ::fsync(fd) != 0) return failure("sync", path, errno);
    return {};
}

// mkdir() obeys the umask; the descriptor is of what it made and not of a link that took its place.
Result<void> make_directory(const std::string& path, mode_t mode) {
    if (::mkdir(path.c_str(), 0700) != 0)
        return errno == EEXIST ? Result<void>() : failure("make", path, errno);
    const Descriptor made(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made.open() || ::fchmod(made.get(), mode) != 0) return failure("set the mode of", path, errno);
    return {};
}

}  // namespace

std::string FileStamp::text() const {
    return std::to_string(device) + ":" + std::to_string(inode) + ":" + std::to_string(size) + ":" +
           std::to_string(mtime_ns) + ":" + std::to_string(ctime_ns);
}

Result<void> remove_file(const std::string& path) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    return Error{Code::internal, "cannot remove " + path + ": " + reason_of(errno)};
}

std::string reason_of(int error_number) {
    return std::generic_category().message(error_number);
}

Result<FileStamp> stamp_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return failure("stat", path, errno);
    return stamp_of(status);
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    Result<StateFile> file = open_and_read(path, max_bytes, false);
    if (!file) return file.error();
    return std::move(file).value().content;
}

Result<StateFile> read_state_file(const std::string& path, std::size_t max_bytes) {
    return open_and_read(path, max_bytes, true);
}

bool state_file_says(const std::string& path, std::string_view content) {
    const Result<StateFile> file = read_state_file(path, content.size());
    return file && file.value().content == content;
}

Result<void> write_file_atomically(const std::string& path, std::string_view content, mode_t mode,
                                   Durability durability, std::optional<FileOwner> owner) {
    std::string temporary = path + ".XXXXXX";
    const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file.open()) return failure("create a file beside", path, errno);
    Result<void> filled;
    if (owner && ::fchown(file.get(), owner->uid, owner->gid) != 0)
        filled = failure("set the owner of a file beside", path, errno);
    if (filled) filled = fill(file.get(), content, mode, durability, path);
    if (filled && ::rename(temporary.c_str(), path.c_str()) != 0) filled = failure("replace", path, errno);
    if (!filled) {
        ::unlink(temporary.c_str());
        return filled;
    }
    if (durability == Durability::durable) {
        const std::string parent = directory_of(path);
        const Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!directory.open() || ::fsync(directory.get()) != 0) return failure("sync", parent, errno);
    }
    return {};
}

Result<void> make_directories(const std::string& path, mode_t mode) {
    const std::size_t end = path.find_last_not_of('/');
    const std::string last = end == std::string::npos ? path : path.substr(0, end + 1);
    for (std::size_t slash = last.find('/', 1); slash != std::string::npos;
         slash = last.find('/', slash + 1)) {
        if (Result<void> made = make_directory(last.substr(0, slash), 0755); !made) return made;
    }
    if (Result<void> made = make_directory(last, mode); !made) return made;
    struct stat status {};
    if (::stat(last.c_str(), &status) != 0) return failure("stat", last, errno);
    if (!S_ISDIR(status.st_mode)) return Error{Code::invalid, last + " is not a directory"};
    return {};
}

}  // namespace llmgw
