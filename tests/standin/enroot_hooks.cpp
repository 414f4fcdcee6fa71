#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "enroot.hpp"

namespace fs = std::filesystem;

namespace standin {
namespace {

std::vector<fs::path> files_in(const char* directory, const char* suffix) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path(system_directory()) / directory, error)) {
        if (entry.path().extension() == suffix) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string content_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// ${NAME}, as in the real one: nothing else is expanded.
std::string substituted(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = text.find('}', i);
        if (text.compare(i, 2, "${") == 0 && end != std::string::npos) {
            out += variable(text.substr(i + 2, end - i - 2).c_str());
            i = end + 1;
        } else {
            out += text[i++];
        }
    }
    return out;
}

std::vector<std::string> assignments_in(const std::string& text) {
    std::vector<std::string> assignments;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.front() != '#' && line.find('=') != std::string::npos) {
            assignments.push_back(line);
        }
    }
    return assignments;
}

bool has_option(const std::string& options, const std::string& option) {
    return ("," + options + ",").find("," + option + ",") != std::string::npos;
}

}  // namespace

std::vector<Mount> parse_fstab(const std::string& text) {
    std::vector<Mount> mounts;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Mount mount;
        std::string third;
        std::string options;
        words >> mount.source >> mount.target >> third >> options;
        if (mount.source.empty() || mount.source.front() == '#' || mount.target.empty()) continue;
        mount.fresh = third == "tmpfs" || mount.source == "tmpfs";
        // pyxis leaves the type out.
        if (options.empty()) options = third;
        mount.read_only = has_option(options, "ro");
        mount.may_be_missing = has_option(options, "nofail");
        if (mount.fresh || mount.source.front() == '/') mounts.push_back(mount);
    }
    return mounts;
}

std::vector<Mount> configured_mounts() {
    std::string text;
    for (const fs::path& file : files_in("mounts.d", ".fstab")) text += substituted(content_of(file)) + "\n";
    return parse_fstab(text);
}

std::vector<std::string> configured_environment() {
    std::string text;
    for (const fs::path& file : files_in("environ.d", ".env")) text += substituted(content_of(file)) + "\n";
    return assignments_in(text);
}

void run_hooks(const std::string& root, std::vector<std::string>& environment, std::vector<Mount>& mounts) {
    const std::vector<fs::path> hooks = files_in("hooks.d", ".sh");
    if (hooks.empty()) return;
    std::string place = (variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR")) + "/enroot.XXXXXX";
    if (::mkdtemp(place.data()) == nullptr) die("could not make a directory in /tmp", errno);
    std::ofstream environ_file(place + "/environment");
    for (const std::string& assignment : environment) environ_file << assignment << '\n';
    environ_file.close();
    std::ofstream(place + "/fstab").close();
    std::error_code error;
    const fs::path library =
        fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "lib/enroot";
    for (const fs::path& hook : hooks) {
        if (::access(hook.c_str(), X_OK) != 0) continue;
        const pid_t child = ::fork();
        if (child == 0) {
            ::setenv("ENROOT_PID", std::to_string(::getppid()).c_str(), 1);
            ::setenv("ENROOT_ROOTFS", root.c_str(), 1);
            ::setenv("ENROOT_ENVIRON", (place + "/environment").c_str(), 1);
            ::setenv("ENROOT_MOUNTS", (place + "/fstab").c_str(), 1);
            ::setenv("ENROOT_SYSCONF_PATH", system_directory().c_str(), 1);
            ::setenv("ENROOT_LIBRARY_PATH", library.c_str(), 1);
            ::dup2(STDERR_FILENO, STDOUT_FILENO);
            ::execl(hook.c_str(), hook.c_str(), nullptr);
            std::_Exit(127);
        }
        int status = 0;
        while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (child > 0 && status == 0) continue;
        fs::remove_all(place, error);
        die(hook.string() + " exited with return code " +
            std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 1));
    }
    environment = assignments_in(content_of(place + "/environment"));
    const std::vector<Mount> more = parse_fstab(content_of(place + "/fstab"));
    mounts.insert(mounts.end(), more.begin(), more.end());
    fs::remove_all(place, error);
}

}  // namespace standin
