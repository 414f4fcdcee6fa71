#include "posix/path_probe.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "core/text.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

struct Magic {
    unsigned long number;
    const char* name;
    bool network;
};

// linux/magic.h and the kernel's own sources; those without a name there, by number.
constexpr Magic magics[] = {
    {EXT4_SUPER_MAGIC, "ext4", false},
    {XFS_SUPER_MAGIC, "xfs", false},
    {BTRFS_SUPER_MAGIC, "btrfs", false},
    {TMPFS_MAGIC, "tmpfs", false},
    {OVERLAYFS_SUPER_MAGIC, "overlay", false},
    {RAMFS_MAGIC, "ramfs", false},
    {F2FS_SUPER_MAGIC, "f2fs", false},
    {SQUASHFS_MAGIC, "squashfs", false},
    {MSDOS_SUPER_MAGIC, "vfat", false},
    {ECRYPTFS_SUPER_MAGIC, "ecryptfs", false},
    {0x2fc12fc1, "zfs", false},
    {NFS_SUPER_MAGIC, "nfs", true},
    {SMB_SUPER_MAGIC, "smb", true},
    {CIFS_SUPER_MAGIC, "cifs", true},
    {SMB2_SUPER_MAGIC, "smb2", true},
    {CEPH_SUPER_MAGIC, "ceph", true},
    {AFS_SUPER_MAGIC, "afs", true},
    {AFS_FS_MAGIC, "afs", true},
    {CODA_SUPER_MAGIC, "coda", true},
    {V9FS_MAGIC, "9p", true},
    {OCFS2_SUPER_MAGIC, "ocfs2", true},
    {0x01161970, "gfs2", true},
    {0x0bd00bd0, "lustre", true},
    {0x19830326, "beegfs", true},
    {0x47504653, "gpfs", true},
    {0xaad7aaea, "panfs", true},
    // sshfs, s3fs, gcsfuse, JuiceFS; and local ones, of which none is known to hold layers.
    {FUSE_SUPER_MAGIC, "fuse", true}};

Descriptor open_nearest(const std::string& path, std::string& nearest) {
    nearest = path;
    for (;;) {
        Descriptor directory(::open(nearest.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (directory.open() || nearest == "/" || errno != ENOENT) return directory;
        nearest = directory_of(nearest);
    }
}

// A directory of our own, that others can't put anything into.
class Workplace {
  public:
    explicit Workplace(const Descriptor& directory) : parent_(directory.get()) {
        for (unsigned attempt = 0; attempt < 100; ++attempt) {
            std::array<char, 64> name{};
            std::snprintf(name.data(), name.size(), ".llmgw-probe-%d-%u", ::getpid(), attempt);
            if (::mkdirat(parent_, name.data(), 0700) == 0) {
                name_ = name.data();
                break;
            }
            if (errno != EEXIST) break;
        }
        error_ = errno;
        if (name_.empty()) return;
        directory_ =
            Descriptor(::openat(parent_, name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        error_ = errno;
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    ~Workplace() {
        if (directory_.open()) {
            ::unlinkat(directory_.get(), file_name, 0);
            ::unlinkat(directory_.get(), whiteout_name, 0);
        }
        if (!name_.empty()) ::unlinkat(parent_, name_.c_str(), AT_REMOVEDIR);
    }

    [[nodiscard]] bool ready() const { return directory_.open(); }
    [[nodiscard]] int error() const { return error_; }

    void try_all(PathFinding& finding) const {
        const Descriptor file(
            ::openat(directory_.get(), file_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file.open() || ::write(file.get(), "x", 1) != 1) {
            finding.failure = "cannot write below " + finding.probed + ": " + reason_of(errno);
            return;
        }
        finding.user_xattrs = ::fsetxattr(file.get(), "user.llmgw", "y", 1, 0) == 0;
        finding.trusted_xattrs = ::fsetxattr(file.get(), "trusted.llmgw", "y", 1, 0) == 0;
        finding.whiteouts = makes_whiteout();
    }

  private:
    // An overlay lets nobody make one; and what NFS makes of it can be something else.
    [[nodiscard]] bool makes_whiteout() const {
        if (::mknodat(directory_.get(), whiteout_name, S_IFCHR | 0600, makedev(0, 0)) != 0) return false;
        struct stat status {};
        return ::fstatat(directory_.get(), whiteout_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
    }

    static constexpr const char* file_name = "file";
    static constexpr const char* whiteout_name = "whiteout";
    int parent_;
    std::string name_;
    Descriptor directory_;
    int error_ = 0;
};

void look_at_mount(int directory, PathFinding& finding) {
    struct statfs system {};
    if (::fstatfs(directory, &system) == 0) {
        const FileSystemKind kind = file_system_kind(static_cast<unsigned long>(system.f_type));
        finding.type = kind.name;
        finding.network = kind.network;
    }
    struct statvfs mount {};
    if (::fstatvfs(directory, &mount) != 0) {
        finding.failure = "cannot look at the file system of " + finding.probed + ": " + reason_of(errno);
        return;
    }
    finding.read_only = (mount.f_flag & ST_RDONLY) != 0;
    finding.noexec = (mount.f_flag & ST_NOEXEC) != 0;
    // What users can have, not what is kept back for root.
    finding.free_bytes = static_cast<std::uint64_t>(mount.f_bavail) * mount.f_frsize;
    // btrfs has no inodes to run out of, and says 0.
    if (mount.f_files != 0) finding.free_inodes = mount.f_favail;
}

}  // namespace

FileSystemKind file_system_kind(unsigned long magic) {
    const auto found = std::find_if(std::begin(magics), std::end(magics), [magic](const Magic& each) {
        return each.number == (magic & 0xffffffffUL);
    });
    if (found != std::end(magics)) return {found->name, found->network};
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "0x%lx", magic & 0xffffffffUL);
    return {text.data(), false};
}

FileSystemKind file_system_of(const std::string& path) {
    struct statfs system {};
    if (::statfs(path.c_str(), &system) != 0) return {"unknown", false};
    return file_system_kind(static_cast<unsigned long>(system.f_type));
}

PathFinding probe_path(PathUse use, const std::string& path) {
    PathFinding finding;
    finding.use = use;
    finding.path = path;
    const Descriptor directory = open_nearest(path, finding.probed);
    if (!directory.open()) {
        finding.failure = "cannot open " + finding.probed + ": " + reason_of(errno);
        return finding;
    }
    look_at_mount(directory.get(), finding);
    if (use == PathUse::shared) {
        if (finding.probed != path) finding.failure = reason_of(ENOENT);
        return finding;
    }
    if (!finding.failure.empty() || finding.read_only) return finding;
    const Workplace workplace(directory);
    if (workplace.ready()) {
        workplace.try_all(finding);
    } else {
        finding.failure =
            "cannot make a directory below " + finding.probed + ": " + reason_of(workplace.error());
    }
    return finding;
}

}  // namespace llmgw
