#include "posix/whereabouts.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "posix/file.hpp"

namespace llmgw {

Result<Descriptor> open_proc() {
    Descriptor proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!proc.open()) return Error{Code::internal, "cannot open /proc: " + reason_of(errno)};
    return proc;
}

Result<Whereabouts> whereabouts(const Descriptor& proc) {
    struct stat mount_namespace {};
    struct stat root {};
    if (::fstatat(proc.get(), "self/ns/mnt", &mount_namespace, 0) != 0) {
        return Error{Code::internal, "cannot look at the mount namespace: " + reason_of(errno)};
    }
    if (::stat("/", &root) != 0) return Error{Code::internal, "cannot look at /: " + reason_of(errno)};
    return Whereabouts{static_cast<std::uint64_t>(mount_namespace.st_dev), mount_namespace.st_ino,
                       static_cast<std::uint64_t>(root.st_dev), root.st_ino};
}

bool moved_into_container(const Whereabouts& before, const Whereabouts& after) noexcept {
    const bool other_namespace =
        before.namespace_device != after.namespace_device || before.namespace_inode != after.namespace_inode;
    const bool other_root = before.root_device != after.root_device || before.root_inode != after.root_inode;
    return other_namespace && other_root;
}

}  // namespace llmgw
