#include "posix/apply_edits.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "core/limits.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

// What a file keeps when its content is replaced, besides owner and mode: access list, SELinux label.
constexpr const char* kept_attributes[] = {"system.posix_acl_access", "security.selinux"};

Error failure(const std::string& what, const std::string& path) {
    const int error_number = errno;
    const Code code = error_number == EACCES || error_number == EPERM || error_number == EROFS ? Code::denied
                      : error_number == ENOENT || error_number == ENOTDIR                      ? Code::missing
                                                                          : Code::internal;
    return {code, "cannot " + what + " " + path + ": " + reason_of(error_number)};
}

// What was there, as far as it has to be there again.
struct Found {
    bool there = false;
    struct stat status {};
    std::string content;
    std::array<std::string, std::size(kept_attributes)> attributes;
};

std::string attribute_of(int file, const char* name) {
    std::array<char, 4096> value{};
    const ssize_t size = ::fgetxattr(file, name, value.data(), value.size());
    return size > 0 ? std::string(value.data(), static_cast<std::size_t>(size)) : std::string();
}

// One file in its directory, which is held open so that nobody can put another one in its place.
class Place {
  public:
    static Result<Place> open(const FileEdit& edit) {
        Place place;
        place.path_ = edit.path;
        const std::size_t slash = edit.path.rfind('/');
        if (slash == std::string::npos || slash + 1 == edit.path.size()) {
            return Error{Code::invalid, edit.path + " is no absolute path of a file"};
        }
        place.name_ = edit.path.substr(slash + 1);
        // Hidden, so that no pattern that this file's readers look for has it, and always the same one, so
        // that a killed helper leaves one at most.
        place.temporary_ = "." + place.name_ + ".llmgw-new";
        const std::string directory = slash == 0 ? "/" : edit.path.substr(0, slash);
        if (edit.make_directory) {
            if (Result<void> made = make_directories(directory, 0755); !made) return made.error();
        }
        place.directory_ = Descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!place.directory_.open()) return failure("open", directory);
        return place;
    }

    [[nodiscard]] Result<Found> look() const {
        Found found;
        const Descriptor file(::openat(directory_.get(), name_.c_str(),
                                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (!file.open() && errno == ENOENT) return found;
        if (!file.open() && errno == ELOOP) {
            return Error{Code::conflict, path_ + " is a symbolic link, through which nothing is written"};
        }
        if (!file.open()) return failure("open", path_);
        if (::fstat(file.get(), &found.status) != 0) return failure("stat", path_);
        if (!S_ISREG(found.status.st_mode)) return Error{Code::conflict, path_ + " is not a regular file"};
        Result<std::string> content =
            read_file("/proc/self/fd/" + std::to_string(file.get()), limits::edited_file_bytes);
        if (!content)
            return Error{content.error().code, "cannot read " + path_ + ": " + content.error().message};
        found.content = std::move(content).value();
        for (std::size_t i = 0; i < std::size(kept_attributes); ++i) {
            found.attributes[i] = attribute_of(file.get(), kept_attributes[i]);
        }
        found.there = true;
        return found;
    }

    // `now` is what look() found: it must be there still.
    [[nodiscard]] Result<void> put(const std::string& content, const Found& like, mode_t mode,
                                   const Found& now) const {
        ::unlinkat(directory_.get(), temporary_.c_str(), 0);
        Result<void> done = fill(content, like, mode);
        if (done && !unchanged(now)) done = changed();
        if (done && ::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name_.c_str()) != 0) {
            done = failure("replace", path_);
        }
        if (!done) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
        if (done && ::fsync(directory_.get()) != 0) done = failure("sync the directory of", path_);
        return done;
    }

    [[nodiscard]] Result<void> remove(const Found& now) const {
        ::unlinkat(directory_.get(), temporary_.c_str(), 0);
        if (!now.there) return {};
        if (!unchanged(now)) return changed();
        if (::unlinkat(directory_.get(), name_.c_str(), 0) != 0) return failure("remove", path_);
        if (::fsync(directory_.get()) != 0) return failure("sync the directory of", path_);
        return {};
    }

    [[nodiscard]] Error changed() const {
        return {Code::conflict, path_ + " was changed by somebody else meanwhile; try again"};
    }

  private:
    [[nodiscard]] Result<void> fill(const std::string& content, const Found& like, mode_t mode) const {
        const Descriptor file(::openat(directory_.get(), temporary_.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.open()) return failure("create a file beside", path_);
        std::size_t written = 0;
        while (written < content.size()) {
            const ssize_t count = ::write(file.get(), content.data() + written, content.size() - written);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return failure("write", path_);
            written += static_cast<std::size_t>(count);
        }
        if (like.there && ::fchown(file.get(), like.status.st_uid, like.status.st_gid) != 0) {
            return failure("set the owner of", path_);
        }
        // After the owner, which clears some bits, and before the access list, which is part of it.
        if (::fchmod(file.get(), like.there ? like.status.st_mode & 07777 : mode) != 0) {
            return failure("set the mode of", path_);
        }
        for (std::size_t i = 0; like.there && i < std::size(kept_attributes); ++i) {
            const std::string& value = like.attributes[i];
            if (value.empty()) continue;
            if (::fsetxattr(file.get(), kept_attributes[i], value.data(), value.size(), 0) != 0) {
                return failure(std::string("keep ") + kept_attributes[i] + " of", path_);
            }
        }
        if (::fsync(file.get()) != 0) return failure("sync", path_);
        return {};
    }

    [[nodiscard]] bool unchanged(const Found& now) const {
        struct stat status {};
        if (::fstatat(directory_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            return errno == ENOENT && !now.there;
        }
        return now.there && status.st_dev == now.status.st_dev && status.st_ino == now.status.st_ino &&
               status.st_size == now.status.st_size && status.st_ctim.tv_sec == now.status.st_ctim.tv_sec &&
               status.st_ctim.tv_nsec == now.status.st_ctim.tv_nsec;
    }

    std::string path_;
    std::string name_;
    std::string temporary_;
    Descriptor directory_;
};

struct Done {
    const FileEdit* edit;
    Place place;
    Found before;
};

bool is(const Found& found, const std::optional<std::string>& content) {
    return found.there == content.has_value() && (!content || found.content == *content);
}

// On an error, too, it may be done: the name is there, and only its directory could not be synced.
Result<void> apply_one(const FileEdit& edit, std::vector<Done>& done) {
    Result<Place> place = Place::open(edit);
    // Where nothing should be and no directory is, nothing is to be removed.
    if (!place && place.error().code == Code::missing && !edit.before && !edit.after) return {};
    if (!place) return place.error();
    Result<Found> found = place.value().look();
    if (!found) return found.error();
    if (!is(found.value(), edit.before)) return place.value().changed();
    done.push_back({&edit, std::move(place).value(), std::move(found).value()});
    const Done& now = done.back();
    return edit.after ? now.place.put(*edit.after, now.before, edit.mode, now.before)
                      : now.place.remove(now.before);
}

Result<void> undo_one(const Done& done) {
    const Result<Found> now = done.place.look();
    if (!now) return now.error();
    if (is(now.value(), done.edit->before)) return {};
    if (!is(now.value(), done.edit->after)) return done.place.changed();
    if (!done.before.there) return done.place.remove(now.value());
    return done.place.put(done.before.content, done.before, done.edit->mode, now.value());
}

}  // namespace

Result<void> apply_edits(const FileEdits& edits) {
    std::vector<Done> done;
    for (const FileEdit& edit : edits) {
        const Result<void> result = apply_one(edit, done);
        if (result) continue;
        Error error = result.error();
        for (auto each = done.rbegin(); each != done.rend(); ++each) {
            const Result<void> undone = undo_one(*each);
            if (!undone)
                error.message +=
                    "; and " + each->edit->path + " could not be put back: " + undone.error().message;
        }
        return error;
    }
    return {};
}

}  // namespace llmgw
