#include "posix/user_database.hpp"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>

#include "core/limits.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

constexpr int look_every_ms = 10;

Result<std::string> read_or_empty(const std::string& path) {
    Result<std::string> text = read_file(path, limits::edited_file_bytes);
    if (!text && text.error().code == Code::missing) return std::string();
    return text;
}

}  // namespace

Result<Descriptor> lock_user_database(const std::string& root, std::chrono::milliseconds patience) {
    const std::string path = root + "/etc/.pwd.lock";
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.open()) return Error{Code::denied, "cannot open " + path + ": " + reason_of(errno)};
    const auto end = std::chrono::steady_clock::now() + patience;
    for (;;) {
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        // Of this open file and not of the process: the same against others, and never dropped by a close of
        // another descriptor.
        if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
            return Error{Code::internal, "cannot lock " + path + ": " + reason_of(errno)};
        }
        if (std::chrono::steady_clock::now() >= end) {
            return Error{Code::conflict, "somebody else is changing this machine's users (" + path +
                                             " is locked, by vipw, useradd or the like); it is tried again"};
        }
        ::poll(nullptr, 0, look_every_ms);
    }
}

Result<UserFiles> read_user_files(const std::string& root) {
    UserFiles files;
    for (const auto& [name, text] :
         {std::pair{"passwd", &files.passwd}, {"group", &files.group}, {"shadow", &files.shadow}}) {
        Result<std::string> read = read_file(root + "/etc/" + name, limits::edited_file_bytes);
        if (!read) return read.error();
        *text = std::move(read).value();
    }
    for (const auto& [name, text] : {std::pair{"subuid", &files.subuid}, {"subgid", &files.subgid}}) {
        Result<std::string> read = read_or_empty(root + "/etc/" + name);
        if (!read) return read.error();
        *text = std::move(read).value();
    }
    Result<std::string> gshadow = read_file(root + "/etc/gshadow", limits::edited_file_bytes);
    if (gshadow) {
        files.gshadow = std::move(gshadow).value();
    } else if (gshadow.error().code != Code::missing) {
        return gshadow.error();
    }
    return files;
}

}  // namespace llmgw
