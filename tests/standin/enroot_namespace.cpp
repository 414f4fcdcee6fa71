#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "enroot.hpp"

namespace fs = std::filesystem;

namespace standin {
namespace {

void write_file(const std::string& path, const std::string& text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) die("could not open " + path, errno);
    if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        die("could not write " + path, errno);
    }
    ::close(fd);
}

void enter_new_namespaces(bool remap_root) {
    const std::string uid = std::to_string(::geteuid());
    const std::string gid = std::to_string(::getegid());
    // The cgroup namespace because the real pyxis joins the container's, which must belong to this user
    // namespace.
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) != 0) {
        die("failed to create user namespace", errno);
    }
    // The kernel lets an ordinary user map its group only once setgroups is given up.
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", (remap_root ? "0" : uid) + " " + uid + " 1");
    write_file("/proc/self/gid_map", (remap_root ? "0" : gid) + " " + gid + " 1");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        die("failed to make mounts private", errno);
    }
}

// A remount in a user namespace must keep the flags that the mount already has, or the kernel refuses it.
unsigned long locked_flags(const std::string& path) {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0) return 0;
    unsigned long flags = 0;
    if ((status.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
    if ((status.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
    if ((status.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
    if ((status.f_flag & ST_RDONLY) != 0) flags |= MS_RDONLY;
    if ((status.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
    if ((status.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
    return flags;
}

void remount_read_only(const std::string& path) {
    if (::mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | locked_flags(path),
                nullptr) != 0) {
        die("failed to make " + path + " read-only", errno);
    }
}

// False where the image has a symbolic link at that place: following it would leave the container's file
// system.
bool make_target(const std::string& target, bool directory) {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(target, error))) return false;
    if (directory) {
        fs::create_directories(target, error);
    } else {
        fs::create_directories(fs::path(target).parent_path(), error);
        const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0) ::close(fd);
    }
    return fs::exists(target, error);
}

void bind(const std::string& root, const Mount& mount, bool may_be_missing) {
    std::error_code error;
    const std::string target = root + "/" + mount.target;
    if (mount.fresh) {
        if (!make_target(target, true) ||
            ::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, nullptr) != 0) {
            die("failed to mount a tmpfs at " + mount.target, errno);
        }
        return;
    }
    if (!fs::exists(mount.source, error)) {
        if (may_be_missing) return;
        die("no such file or directory: " + mount.source);
    }
    if (!make_target(target, fs::is_directory(mount.source, error))) {
        if (may_be_missing) return;
        die("could not make the mount point " + mount.target + " in the container");
    }
    if (::mount(mount.source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
        die("failed to mount " + mount.source + " at " + mount.target, errno);
    }
    if (mount.read_only) remount_read_only(target);
}

void switch_root(const std::string& root) {
    if (::chdir(root.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0) {
        die("failed to switch to " + root, errno);
    }
    if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
        die("failed to leave the host's file system", errno);
    }
}

[[noreturn]] void become(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    die("failed to execute " + command.front(), errno);
}

}  // namespace

void start_container(const Start& start) {
    enter_new_namespaces(start.remap_root);
    if (::mount(start.root.c_str(), start.root.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
        die("failed to mount " + start.root, errno);
    }
    for (const char* place : {"/proc", "/sys", "/dev"}) bind(start.root, {place, place}, false);
    if (make_target(start.root + "/tmp", true) &&
        ::mount("tmpfs", (start.root + "/tmp").c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        die("failed to mount a tmpfs at /tmp", errno);
    }
    for (const char* place : {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}) {
        bind(start.root, {place, place, true}, true);
    }
    std::vector<std::string> environment = configured_environment();
    environment.insert(environment.end(), start.environment.begin(), start.environment.end());
    std::vector<Mount> mounts = configured_mounts();
    run_hooks(start.root, environment, mounts);
    mounts.insert(mounts.end(), start.mounts.begin(), start.mounts.end());
    for (const Mount& mount : mounts) bind(start.root, mount, mount.may_be_missing);
    switch_root(start.root);
    if (!start.writable) remount_read_only("/");
    for (const std::string& assignment : environment) {
        const std::size_t equals = assignment.find('=');
        ::setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
    }
    become(start.command);
}

void enter_container(long pid, const std::vector<std::string>& command) {
    const std::string base = "/proc/" + std::to_string(pid) + "/ns/";
    int fds[2] = {-1, -1};
    const char* const names[2] = {"user", "mnt"};
    // Both are opened first: after the first one is entered, /proc/PID may be out of reach.
    for (int i = 0; i < 2; ++i) {
        fds[i] = ::open((base + names[i]).c_str(), O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0) die("no such container process: " + std::to_string(pid), errno);
    }
    for (const int fd : fds) {
        if (::setns(fd, 0) != 0)
            die("failed to join the namespaces of process " + std::to_string(pid), errno);
    }
    if (::chdir("/") != 0) die("failed to change to the container's /", errno);
    become(command);
}

}  // namespace standin
