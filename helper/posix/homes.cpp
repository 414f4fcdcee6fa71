#include "posix/homes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "core/names.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"
#include "posix/untrusted_file.hpp"

namespace llmgw {
namespace {

constexpr int depth_of_skeletons = 8;
constexpr std::size_t skeleton_file_bytes = 1024 * 1024;

Error failure(const std::string& what, const std::string& path) {
    const int number = errno;
    const bool denied = number == EACCES || number == EPERM || number == EROFS;
    return {denied ? Code::denied : Code::internal, "cannot " + what + " " + path + ": " + reason_of(number)};
}

Result<Descriptor> open_directory(int at, const std::string& name, const std::string& path) {
    Descriptor directory(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory.open()) return failure("open", path);
    return directory;
}

std::vector<std::string> entries_of(int directory) {
    std::vector<std::string> names;
    const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return names;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
    while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    return names;
}

Result<void> copy_file(int from, int to, const std::string& name, mode_t mode, uid_t uid) {
    const Descriptor source(::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!source.open()) return failure("read", name);
    const Result<std::string> content =
        read_file("/proc/self/fd/" + std::to_string(source.get()), skeleton_file_bytes);
    if (!content) return content.error();
    const Descriptor target(
        ::openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!target.open()) return failure("make", name);
    const std::string& text = content.value();
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(target.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failure("write", name);
        done += static_cast<std::size_t>(count);
    }
    if (::fchown(target.get(), uid, uid) != 0) return failure("give away", name);
    // Never more than what the skeleton's owner has, and no set-user-id.
    if (::fchmod(target.get(), mode & 0755) != 0) return failure("set the mode of", name);
    return {};
}

Result<void> copy_link(int from, int to, const std::string& name, uid_t uid) {
    std::array<char, 4096> target{};
    const ssize_t size = ::readlinkat(from, name.c_str(), target.data(), target.size() - 1);
    if (size < 0) return failure("read the link", name);
    if (::symlinkat(target.data(), to, name.c_str()) != 0) return failure("make", name);
    if (::fchownat(to, name.c_str(), uid, uid, AT_SYMLINK_NOFOLLOW) != 0) return failure("give away", name);
    return {};
}

Result<void> copy_tree(int from, int to, uid_t uid, int depth) {
    for (const std::string& name : entries_of(from)) {
        struct stat status {};
        if (::fstatat(from, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return failure("look at", name);
        Result<void> done;
        if (S_ISREG(status.st_mode)) {
            done = copy_file(from, to, name, status.st_mode, uid);
        } else if (S_ISLNK(status.st_mode)) {
            done = copy_link(from, to, name, uid);
        } else if (S_ISDIR(status.st_mode) && depth > 0) {
            if (::mkdirat(to, name.c_str(), 0700) != 0) return failure("make", name);
            Result<Descriptor> source = open_directory(from, name, name);
            Result<Descriptor> target = open_directory(to, name, name);
            if (!source) return source.error();
            if (!target) return target.error();
            done = copy_tree(source.value().get(), target.value().get(), uid, depth - 1);
            if (done && ::fchown(target.value().get(), uid, uid) != 0) done = failure("give away", name);
            if (done && ::fchmod(target.value().get(), status.st_mode & 0755) != 0)
                done = failure("set the mode of", name);
        }
        if (!done) return done;
    }
    return {};
}

// The directory that homes are in: nobody but root may change what is in it.
Result<Descriptor> open_homes(const std::string& directory) {
    if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return failure("make", directory);
    Descriptor homes(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!homes.open()) return failure("open", directory);
    struct stat status {};
    if (::fstat(homes.get(), &status) != 0) return failure("look at", directory);
    const bool ours = status.st_uid == 0 || status.st_uid == ::geteuid();
    const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (!ours || others_write) {
        return Error{Code::conflict, directory + " can be changed by others than root (owner " +
                                         std::to_string(status.st_uid) +
                                         "), so no homes are made in it: chown root " + directory +
                                         " and chmod go-w " + directory};
    }
    return homes;
}

// True: the user has a home already.
Result<bool> has_home(const Descriptor& homes, const std::string& login, uid_t uid, const std::string& path) {
    struct stat status {};
    if (::fstatat(homes.get(), login.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return false;
        return failure("look at", path);
    }
    if (S_ISDIR(status.st_mode) && status.st_uid == uid) return true;
    return Error{Code::conflict,
                 path +
                     (S_ISDIR(status.st_mode) ? " belongs to number " + std::to_string(status.st_uid) +
                                                    " and not to " + std::to_string(uid)
                                              : std::string(" is not a directory")) +
                     "; it was left as it is: move it away, or give it to the user"};
}

}  // namespace

Result<void> make_home(const std::string& directory, const std::string& login, uid_t uid,
                       const std::string& skeleton) {
    if (!is_login(login)) return Error{Code::invalid, "that is no login"};
    const std::string path = directory + "/" + login;
    Result<Descriptor> opened = open_homes(directory);
    if (!opened) return opened.error();
    const Descriptor& homes = opened.value();
    const Result<bool> there = has_home(homes, login, uid, path);
    if (!there) return there.error();
    if (there.value()) return {};
    // What a helper that was killed left is begun anew.
    const std::string temporary = ".llmgw-new-" + login;
    if (const Result<void> gone = remove_tree(directory + "/" + temporary); !gone) return gone;
    if (::mkdirat(homes.get(), temporary.c_str(), 0700) != 0) return failure("make", path);
    Result<Descriptor> home = open_directory(homes.get(), temporary, path);
    if (!home) return home.error();
    Result<void> done;
    const Descriptor from(::open(skeleton.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (from.open()) done = copy_tree(from.get(), home.value().get(), uid, depth_of_skeletons);
    if (done && ::fchmod(home.value().get(), 0700) != 0) done = failure("set the mode of", path);
    if (done && ::fchown(home.value().get(), uid, uid) != 0) done = failure("give away", path);
    if (done &&
        ::renameat2(homes.get(), temporary.c_str(), homes.get(), login.c_str(), RENAME_NOREPLACE) != 0) {
        // NFS doesn't know that flag; nobody else writes here, and it was not there a moment ago.
        const bool unknown = errno == EINVAL || errno == ENOSYS;
        if (!unknown || ::renameat(homes.get(), temporary.c_str(), homes.get(), login.c_str()) != 0)
            done = failure("name", path);
    }
    if (!done) static_cast<void>(remove_tree(directory + "/" + temporary));
    return done;
}

}  // namespace llmgw
