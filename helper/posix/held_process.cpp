#include "posix/held_process.hpp"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/job_containers.hpp"
#include "core/limits.hpp"
#include "posix/file.hpp"

namespace llmgw {

HeldProcess::HeldProcess(pid_t process, Descriptor directory)
    : process_(process), directory_(std::move(directory)) {}

Error HeldProcess::failure(const std::string& what, int error_number) const {
    const Code code = error_number == ENOENT || error_number == ESRCH   ? Code::missing
                      : error_number == EACCES || error_number == EPERM ? Code::denied
                                                                        : Code::internal;
    return {code,
            "cannot " + what + " of process " + std::to_string(process_) + ": " + reason_of(error_number)};
}

Result<HeldProcess> HeldProcess::open(pid_t process) {
    const std::string path = "/proc/" + std::to_string(process);
    HeldProcess held(process,
                     Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    if (!held.directory_.open()) return held.failure("open the directory", errno);
    return held;
}

Result<std::string> HeldProcess::read(const char* name, std::size_t max_bytes) const {
    const std::string what = "read " + std::string(name);
    const Descriptor file(::openat(directory_.get(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file.open()) return failure(what, errno);
    std::string content;
    std::string part(4096, '\0');
    for (;;) {
        const ssize_t got = ::read(file.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure(what, errno);
        if (got == 0) return content;
        content.append(part, 0, static_cast<std::size_t>(got));
        if (content.size() > max_bytes) {
            return Error{Code::too_large, name + std::string(" of process ") + std::to_string(process_) +
                                              " has more than " + std::to_string(max_bytes) + " bytes"};
        }
    }
}

Result<std::uint64_t> HeldProcess::started() const {
    const Result<std::string> stat = read("stat", limits::process_file_bytes);
    if (!stat) return stat.error();
    const std::optional<std::uint64_t> start = start_of_process(stat.value());
    if (!start) return failure("understand stat", EINVAL);
    return *start;
}

Result<uid_t> HeldProcess::user() const {
    const Result<std::string> status = read("status", limits::process_file_bytes);
    if (!status) return status.error();
    const std::optional<std::uint32_t> user = user_of_process(status.value());
    if (!user) return failure("tell the user", EACCES);
    return *user;
}

Result<Descriptor> HeldProcess::open_namespace(const char* kind) const {
    const std::string name = std::string("ns/") + kind;
    Descriptor file(::openat(directory_.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) return failure("open " + name, errno);
    return file;
}

Result<std::string> HeldProcess::environment() const {
    return read("environ", limits::job_environment_bytes);
}

std::uint64_t namespace_number(int file) {
    struct stat status {};
    return ::fstat(file, &status) == 0 ? status.st_ino : 0;
}

Descriptor parent_namespace(int users) {
    return Descriptor(::ioctl(users, NS_GET_PARENT));
}

Descriptor owning_namespace(int file) {
    return Descriptor(::ioctl(file, NS_GET_USERNS));
}

}  // namespace llmgw
