// A libslurm for tests, built once for each API number: it speaks to fake_slurmstepd.hpp, and ends the
// process or hangs where a real one may.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct OldStepId {
    std::uint32_t job, het_component, step;
};
struct StepId {
    std::uint64_t sluid;
    std::uint32_t job, het_component, step;
};

std::int32_t ask(int fd, char what, std::int32_t number) {
    std::int32_t answer = -1;
    if (::write(fd, &what, 1) != 1 || ::write(fd, &number, sizeof number) != sizeof number) return -1;
    if (::read(fd, &answer, sizeof answer) != sizeof answer) return -1;
    return answer;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) long slurm_api_version() {
    return static_cast<long>(FAKE_API) << 16;
}

__attribute__((visibility("default"))) int slurm_stepd_connect(const char* directory, const char* node,
                                                               void* step, std::uint16_t* protocol) {
    std::uint32_t job = 0;
    if (FAKE_API < 42) {
        const auto* id = static_cast<const OldStepId*>(step);
        if (id->step != 0xfffffffc || id->het_component != 0xfffffffe) return -1;
        job = id->job;
    } else {
        const auto* id = static_cast<const StepId*>(step);
        if (id->sluid != 0 || id->step != 0xfffffffc || id->het_component != 0xfffffffe) return -1;
        job = id->job;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s/%s_%u.4294967292", directory, node, job);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        ::close(fd);
        return -1;
    }
    *protocol = static_cast<std::uint16_t>(ask(fd, 'p', 0));
    return fd;
}

__attribute__((visibility("default"))) uid_t slurm_stepd_get_uid(int fd, std::uint16_t) {
    return static_cast<uid_t>(ask(fd, 'u', 0));
}

__attribute__((visibility("default"))) int slurm_stepd_add_extern_pid(int fd, std::uint16_t, pid_t process) {
    const std::int32_t answer = ask(fd, 'a', process);
    // As fatal() does.
    if (answer == 99) std::exit(1);
    return answer;
}

__attribute__((visibility("default"))) int slurm_stepd_get_namespace_fd(int fd, std::uint16_t) {
    return ask(fd, 'n', 0) > 0 ? ::dup(fd) : 0;
}

}  // extern "C"
