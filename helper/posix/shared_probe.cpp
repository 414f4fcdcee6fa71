#include "posix/shared_probe.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"
#include "posix/launch.hpp"

namespace llmgw {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int full = 0;
constexpr int empty = 10;
constexpr int missing = 11;
constexpr int failed = 12;
constexpr std::size_t mountinfo_bytes = 4 * 1024 * 1024;
// After SIGKILL: most waits for NFS end with it.
constexpr std::chrono::milliseconds last_chance{500};

// Blanks and the like are \040 there.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = [&](std::size_t j) { return text[j] >= '0' && text[j] <= '7'; };
        if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
            plain +=
                static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool is_at_or_above(const std::string& point, const std::string& path) {
    return path == point || (path.starts_with(point) && path[point.size()] == '/');
}

}  // namespace

std::optional<MountedAt> mounted_at(std::string_view mountinfo, const std::string& path) {
    std::string root_device;
    std::optional<MountedAt> best;
    std::string device_of_best;
    for (const std::string_view line : split(mountinfo, '\n')) {
        const std::vector<std::string_view> fields = split(line, ' ');
        if (fields.size() < 9) continue;
        const std::string point = unescaped(fields[4]);
        if (point == "/") root_device = fields[2];
        if (point == "/" || !is_at_or_above(point, path)) continue;
        if (best && point.size() < best->point.size()) continue;
        std::size_t dash = 6;
        while (dash < fields.size() && fields[dash] != "-") ++dash;
        if (dash + 2 >= fields.size()) continue;
        best = MountedAt{point, unescaped(fields[dash + 2])};
        device_of_best = fields[2];
    }
    return best && device_of_best != root_device ? best : std::nullopt;
}

bool SharedProbe::still_held() {
    if (held_ == 0) return false;
    if (::waitpid(held_, nullptr, WNOHANG) == 0) return true;
    held_ = 0;
    return false;
}

SharedPath SharedProbe::look(const std::string& path, bool exactly) {
    const std::lock_guard lock(mutex_);
    SharedPath found;
    const Result<std::string> mountinfo = read_file("/proc/self/mountinfo", mountinfo_bytes);
    if (!mountinfo) return found;
    std::optional<MountedAt> mount = mounted_at(mountinfo.value(), path);
    if (mount && exactly && mount->point != path) mount.reset();
    if (mount) {
        found.source = mount->source;
        found.point = mount->point;
    }
    if (still_held()) {
        found.state = SharedState::unanswering;
        return found;
    }
    const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    Launch what;
    what.output = nowhere.get();
    what.argv = {program_, "--look-at-shared", path};
    const Result<pid_t> child = launch(what);
    if (!child) return found;
    if (!ends_before(child.value(), Clock::now() + patience_)) {
        ::kill(-child.value(), SIGKILL);
        if (!ends_before(child.value(), Clock::now() + last_chance)) {
            held_ = child.value();
        } else {
            bury(child.value());
        }
        found.state = SharedState::unanswering;
        return found;
    }
    const int said = bury(child.value());
    found.empty = said != full;
    if (said == missing) {
        found.state = SharedState::missing;
    } else if (said == full || said == empty) {
        found.state = mount ? SharedState::there : SharedState::directory;
    } else if (mount) {
        // ESTALE, EIO: something is mounted, and it is of no use.
        found.state = SharedState::unanswering;
    }
    return found;
}

// Reading the directory and asking for its space are both questions for the server, which a cache doesn't
// answer.
int look_at_shared_here(const std::string& path) {
    struct statfs system {};
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
    if (!directory) return errno == ENOENT ? missing : failed;
    if (::statfs(path.c_str(), &system) != 0) return failed;
    errno = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) return full;
    }
    return errno == 0 ? empty : failed;
}

}  // namespace llmgw
