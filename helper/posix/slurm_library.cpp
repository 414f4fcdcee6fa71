#include "posix/slurm_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

// SONAME by SONAME, the newest first: 26.05, 25.11, 25.05, 24.11, 24.05, 23.11, 23.02, 22.05.
constexpr std::array<unsigned, 8> known_apis = {45, 44, 43, 42, 41, 40, 39, 38};
constexpr unsigned first_with_sluid = 42;
constexpr unsigned last_with_sleeper = 42;

constexpr std::uint32_t extern_step = 0xfffffffc;  // SLURM_EXTERN_CONT
constexpr std::uint32_t no_value = 0xfffffffe;     // NO_VAL

struct OldStepId {
    std::uint32_t job;
    std::uint32_t het_component;
    std::uint32_t step;
};
struct StepId {
    std::uint64_t sluid;
    std::uint32_t job;
    std::uint32_t het_component;
    std::uint32_t step;
};

struct NamespaceEntry {  // ns_fd_map_t
    int type;
    int fd;
};

// slurm_api_version(): a byte each for the API's number, age and revision.
constexpr unsigned api_of(long version) {
    return static_cast<unsigned>((static_cast<unsigned long>(version) >> 16U) & 0xffU);
}

bool is_known(unsigned api) {
    for (const unsigned known : known_apis) {
        if (known == api) return true;
    }
    return false;
}

std::string file_of(unsigned api) {
    return "libslurm.so." + std::to_string(api);
}

// Text of the loader's, which has paths of root's in it.
std::string loader_error() {
    const char* text = ::dlerror();
    return text == nullptr ? "unknown error" : printable(text, 300);
}

struct Opened {
    void* handle = nullptr;
    std::string name;
};

// First those that the loader's cache has: for each of the others it searches every directory.
std::array<unsigned, known_apis.size()> likely_first() {
    std::array<unsigned, known_apis.size()> apis = known_apis;
    const Result<std::string> cache = read_file("/etc/ld.so.cache", limits::loader_cache_bytes);
    if (!cache) return apis;
    std::stable_partition(apis.begin(), apis.end(),
                          [&](unsigned api) { return contains(cache.value(), file_of(api)); });
    return apis;
}

Result<Opened> open_library(const std::string& path) {
    // Lazily: it has thousands of functions, of which five are used.
    constexpr int how = RTLD_LAZY | RTLD_LOCAL;
    if (!path.empty()) {
        void* handle = ::dlopen(path.c_str(), how);
        if (handle == nullptr)
            return Error{Code::missing, "Slurm's library can't be loaded: " + loader_error()};
        return Opened{handle, path};
    }
    std::string reason;
    for (const unsigned api : likely_first()) {
        void* handle = ::dlopen(file_of(api).c_str(), how);
        if (handle != nullptr) return Opened{handle, file_of(api)};
        // The one that is there but broken is worth more than those that aren't.
        const std::string error = loader_error();
        if (reason.empty() || error.find("No such file") == std::string::npos) reason = error;
    }
    return Error{Code::missing, "none of " + file_of(known_apis.back()) + " to " +
                                    file_of(known_apis.front()) + " can be loaded (" + reason + ")"};
}

template <class Function>
bool find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
}

}  // namespace

Result<SlurmLibrary> SlurmLibrary::load(const std::string& path) {
    Result<Opened> opened = open_library(path);
    if (!opened) return opened.error();
    void* handle = opened.value().handle;
    const std::string& name = opened.value().name;
    long (*version)() = nullptr;
    SlurmLibrary library;
    if (!find(handle, "slurm_api_version", version)) {
        return Error{Code::invalid, name + " is no library of Slurm's"};
    }
    library.api_ = api_of(version());
    if (!is_known(library.api_)) {
        return Error{Code::invalid, name + " is of a Slurm that this module doesn't know (API " +
                                        std::to_string(library.api_) + "); install a newer llmgw-slurm"};
    }
    if (path.empty() && file_of(library.api_) != name) {
        return Error{Code::invalid, name + " says that it is " + file_of(library.api_)};
    }
    if (!find(handle, "slurm_stepd_connect", library.connect_) ||
        !find(handle, "slurm_stepd_get_uid", library.get_uid_) ||
        !find(handle, "slurm_stepd_add_extern_pid", library.add_extern_pid_) ||
        !find(handle, "slurm_stepd_get_namespace_fd", library.get_namespace_fd_)) {
        return Error{Code::invalid, name + " lacks what logins need: " + loader_error()};
    }
    if (find(handle, "slurm_stepd_get_namespace_fds", library.get_namespace_fds_) &&
        (!find(handle, "slurm_list_create", library.list_create_) ||
         !find(handle, "slurm_list_pop", library.list_pop_))) {
        return Error{Code::invalid, name + " lacks what logins need: " + loader_error()};
    }
    return library;
}

Result<SlurmLibrary::Connection> SlurmLibrary::connect(const ExternStep& step) const {
    // Both as if of the newest: zero bytes behind an old one harm nobody.
    OldStepId old{step.job, no_value, extern_step};
    StepId id{0, step.job, no_value, extern_step};
    void* given = api_ < first_with_sluid ? static_cast<void*>(&old) : static_cast<void*>(&id);
    Connection connection;
    const int fd = connect_(step.directory.c_str(), step.node.c_str(), given, &connection.protocol);
    if (fd < 0) return Error{Code::unavailable, "its slurmstepd takes no connection"};
    connection.file = Descriptor(fd);
    if (connection.protocol == 0) {
        return Error{Code::unavailable,
                     "its slurmstepd speaks no version of the protocol that " + file_of(api_) + " does"};
    }
    return connection;
}

Result<uid_t> SlurmLibrary::owner(const Connection& connection) const {
    const uid_t uid = get_uid_(connection.file.get(), connection.protocol);
    if (uid == static_cast<uid_t>(-1))
        return Error{Code::unavailable, "its slurmstepd doesn't say whose job it is"};
    return uid;
}

Result<void> SlurmLibrary::adopt(const Connection& connection, pid_t process) const {
    if (add_extern_pid_(connection.file.get(), connection.protocol, process) == 0) return {};
    return Error{Code::unavailable, "its slurmstepd could not take the login into the job's cgroups"};
}

Result<std::vector<JobNamespace>> SlurmLibrary::namespaces(const Connection& connection) const {
    std::vector<JobNamespace> found;
    const int fd = connection.file.get();
    if (get_namespace_fds_ == nullptr) {
        const int file = get_namespace_fd_(fd, connection.protocol);
        if (file < 0) return Error{Code::unavailable, "its slurmstepd doesn't hand out the job's namespace"};
        if (file > 0) found.push_back({0, Descriptor(file)});
        return found;
    }
    void* list = list_create_(nullptr);
    if (get_namespace_fds_(fd, list, connection.protocol) < 0) {
        // The list is freed by then (26.05 stepd_api.c).
        return Error{Code::unavailable, "its slurmstepd doesn't hand out the job's namespaces"};
    }
    while (const void* entry = list_pop_(list)) {
        const auto* given = static_cast<const NamespaceEntry*>(entry);
        found.push_back({given->type, Descriptor(given->fd)});
    }
    return found;
}

bool SlurmLibrary::keeps_sleeper() const noexcept {
    return api_ <= last_with_sleeper;
}

}  // namespace llmgw
