#include "posix/untrusted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

Error failure(const std::string& what, const std::string& path, int error_number) {
    const Code code = error_number == ENOENT                             ? Code::missing
                      : error_number == ELOOP || error_number == ENOTDIR ? Code::denied
                                                                         : Code::internal;
    return {code, "cannot " + what + " " + path + ": " + reason_of(error_number)};
}

Result<void> check(const struct stat& status, const std::string& path, uid_t owner, std::size_t max_bytes) {
    if (!S_ISREG(status.st_mode)) return Error{Code::denied, path + " is not a regular file"};
    if (status.st_uid != owner) {
        return Error{Code::denied, path + " belongs to user " + std::to_string(status.st_uid)};
    }
    if (status.st_nlink != 1) return Error{Code::denied, path + " has several names"};
    if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
        return Error{Code::too_large, path + " has more than " + std::to_string(max_bytes) + " bytes"};
    }
    return {};
}

}  // namespace

Result<std::string> read_untrusted_file(const std::string& directory, const std::string& name, uid_t owner,
                                        std::size_t max_bytes) {
    const std::string path = directory + "/" + name;
    const Descriptor place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!place.open()) return failure("open", directory, errno);
    const Descriptor file(
        ::openat(place.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file.open()) return failure("open", path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failure("stat", path, errno);
    if (Result<void> checked = check(status, path, owner, max_bytes); !checked) return checked.error();
    std::string content(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t at = 0; at < content.size();) {
        const ssize_t got = ::read(file.get(), content.data() + at, content.size() - at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure("read", path, errno);
        if (got == 0) return Error{Code::conflict, path + " became shorter while it was read"};
        at += static_cast<std::size_t>(got);
    }
    return content;
}

Result<std::string> make_directory_for(const std::string& parent, uid_t owner) {
    std::string path = parent + "/XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return failure("make a directory in", parent, errno);
    if (::geteuid() == 0 && ::lchown(path.c_str(), owner, owner) != 0) {
        return failure("change the owner of", path, errno);
    }
    return path;
}

Result<void> empty_directory(const std::string& path) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
        if (Result<void> removed = remove_tree(entry.path().string()); !removed) return removed;
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return Error{Code::internal, "cannot empty " + path + ": " + error.message()};
    }
    return {};
}

Result<void> remove_tree(const std::string& path) {
    // libstdc++ goes down by descriptors that follow no link, since g++ 12 (its bug 104161).
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) return Error{Code::internal, "cannot remove " + path + ": " + error.message()};
    return {};
}

}  // namespace llmgw
