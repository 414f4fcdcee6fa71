#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "enroot.hpp"

namespace fs = std::filesystem;

namespace standin {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

namespace {

// The real program hands values to a shell; these two forms are those that its documentation uses.
std::string expand(const std::string& value) {
    std::string out;
    for (std::size_t i = 0; i < value.size();) {
        if (value.compare(i, 8, "$(id -u)") == 0) {
            out += std::to_string(::geteuid());
            i += 8;
        } else if (const std::size_t end = value.find('}', i);
                   value.compare(i, 2, "${") == 0 && end != std::string::npos) {
            out += variable(value.substr(i + 2, end - i - 2).c_str());
            i = end + 1;
        } else {
            out += value[i++];
        }
    }
    return out;
}

// As in the real program, what is in the environment wins, then the first file that names a key.
void load(const fs::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string key;
        std::string value;
        words >> key >> std::ws;
        std::getline(words, value);
        if (key.rfind("ENROOT_", 0) == 0) ::setenv(key.c_str(), expand(value).c_str(), 0);
    }
}

bool make_directory(const std::string& path) {
    std::error_code error;
    const mode_t mask = ::umask(077);
    fs::create_directories(path, error);
    ::umask(mask);
    if (error) {
        errno = error.value();
        return false;
    }
    return ::access(path.c_str(), R_OK | W_OK | X_OK) == 0;
}

}  // namespace

std::string system_directory() {
    std::error_code error;
    if (!variable("ENROOT_SYSCONF_PATH").empty()) return variable("ENROOT_SYSCONF_PATH");
    const fs::path beside =
        fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "etc/enroot";
    return fs::is_directory(beside, error) ? beside.string() : "/etc/enroot";
}

void load_configuration() {
    std::error_code error;
    const fs::path directory = system_directory();
    load(directory / "enroot.conf");
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory / "enroot.conf.d", error)) {
        if (entry.path().extension() == ".conf") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) load(file);
}

// Where the containers are. A configured place that can't be used is an error; the default falls back to a
// directory of this user's, so that the program also works before anything is set up and without HOME.
std::string data_path() {
    for (const char* name : {"ENROOT_RUNTIME_PATH", "ENROOT_CACHE_PATH", "ENROOT_DATA_PATH"}) {
        const std::string path = variable(name);
        if (!path.empty() && !make_directory(path)) die("cannot create directory " + path, errno);
    }
    if (!variable("ENROOT_DATA_PATH").empty()) return variable("ENROOT_DATA_PATH");
    const std::string user = "user-" + std::to_string(::geteuid());
    if (make_directory("/var/lib/enroot/data/" + user)) return "/var/lib/enroot/data/" + user;
    const std::string temporary = variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR");
    const std::string path = temporary + "/enroot-data-" + user;
    struct stat status {};
    if (!make_directory(path) || ::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != ::geteuid()) {
        die("cannot use directory " + path);
    }
    return path;
}

}  // namespace standin
