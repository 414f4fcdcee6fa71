#include "posix/user_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

constexpr mode_t own = 0700;

std::string name_of(uid_t uid) {
    return "user-" + std::to_string(uid);
}

}  // namespace

std::string user_directory(const std::string& parent, uid_t uid) {
    return parent + "/" + name_of(uid);
}

Result<void> make_user_directory(const std::string& parent, const User& user) {
    const Descriptor above(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!above.open() || ::fstat(above.get(), &status) != 0 || status.st_uid != 0) return {};
    const std::string name = name_of(user.uid);
    if (::fstatat(above.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return {};
    // Root's until it is the user's: in a sticky directory nobody else can take its name or its place.
    if (::mkdirat(above.get(), name.c_str(), own) != 0) {
        if (errno == EEXIST) return {};
        return Error{Code::internal,
                     "cannot make " + user_directory(parent, user.uid) + ": " + reason_of(errno)};
    }
    const Descriptor made(
        ::openat(above.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made.open() || ::fchmod(made.get(), own) != 0 || ::fchown(made.get(), user.uid, user.gid) != 0) {
        const int why = errno;
        ::unlinkat(above.get(), name.c_str(), AT_REMOVEDIR);
        return Error{Code::internal,
                     "cannot give " + user_directory(parent, user.uid) + " to its user: " + reason_of(why)};
    }
    return {};
}

Result<void> check_user_directory(const std::string& parent, uid_t uid) {
    const std::string path = user_directory(parent, uid);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return {};
        return Error{Code::denied, "cannot look at " + path + ": " + reason_of(errno)};
    }
    const std::string remedy = "; an admin should find out why, and remove it";
    if (!S_ISDIR(status.st_mode)) return Error{Code::denied, path + " is not a directory" + remedy};
    if (status.st_uid != uid) {
        return Error{Code::denied, path + " belongs to UID " + std::to_string(status.st_uid) + remedy};
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error{Code::denied, path + " can be written by others than its user: chmod 0700 " + path};
    }
    return {};
}

}  // namespace llmgw
