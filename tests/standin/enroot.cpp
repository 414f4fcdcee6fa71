#include "enroot.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

namespace fs = std::filesystem;

namespace standin {

void die(std::string_view what, int error) {
    std::fprintf(stderr, "[ERROR] %.*s%s%s\n", static_cast<int>(what.size()), what.data(),
                 error != 0 ? ": " : "", error != 0 ? std::strerror(error) : "");
    std::_Exit(1);
}

namespace {

constexpr const char* version = "4.2.1";

bool yes(const std::string& value) {
    return !value.empty() && std::strchr("yYtT1", value.front()) != nullptr;
}

int run(const std::vector<std::string>& command) {
    const pid_t child = ::fork();
    if (child < 0) die("could not fork", errno);
    if (child == 0) {
        std::vector<char*> argv;
        for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        ::execvp(argv[0], argv.data());
        die("command not found: " + command.front(), errno);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string container(const std::string& data, const std::string& name) {
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) {
        die("invalid argument: " + name);
    }
    return data + "/" + name;
}

void remove_tree(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return;
    // An image may hold directories without w; their owner can still change that.
    run({"chmod", "-R", "u+rwX", "--", path});
    fs::remove_all(path, error);
    if (error) die("could not remove " + path + ": " + error.message());
}

std::string no_such_container(const std::string& name) {
    return "no such file or directory: " + name + " (no container has this name; see enroot list)";
}

// Options that take a value keep their last one, except for those that are collected by the caller.
struct Arguments {
    std::multimap<std::string, std::string> options;
    std::vector<std::string> rest;

    bool has(const char* name) const { return options.count(name) != 0; }
    std::string value(const char* name) const {
        const auto range = options.equal_range(name);
        return range.first == range.second ? "" : std::prev(range.second)->second;
    }
};

// `known` holds "n:name" for an option with a value and "f name" for one without. Stops at the first operand.
Arguments parse(int argc, char** argv, const std::vector<std::string>& known) {
    Arguments out;
    int i = 2;
    for (; i < argc && argv[i][0] == '-'; ++i) {
        std::string word = argv[i];
        if (word == "--") {
            ++i;
            break;
        }
        std::optional<std::string> value;
        if (const std::size_t equals = word.find('=');
            word.rfind("--", 0) == 0 && equals != std::string::npos) {
            value = word.substr(equals + 1);
            word.resize(equals);
        }
        const auto match = std::find_if(known.begin(), known.end(), [&](const std::string& option) {
            return word == "--" + option.substr(2) || word == std::string("-") + option.front();
        });
        if (match == known.end()) die("unknown option: " + word);
        if ((*match)[1] == ':' && !value) {
            if (++i >= argc) die("option " + word + " needs an argument");
            value = argv[i];
        }
        out.options.emplace(match->substr(2), value.value_or(""));
    }
    for (; i < argc; ++i) out.rest.emplace_back(argv[i]);
    return out;
}

int create(const std::string& data, const Arguments& arguments) {
    if (arguments.rest.size() != 1) die("usage: enroot create [--force] [--name NAME] IMAGE");
    const std::string image = arguments.rest.front();
    std::error_code error;
    if (!fs::exists(image, error)) die("no such file or directory: " + image);
    std::string name = arguments.value("name");
    if (name.empty()) name = fs::path(image).stem().string();
    const std::string root = container(data, name);
    if (fs::exists(root, error)) {
        if (!arguments.has("force")) die("file already exists: " + root);
        remove_tree(root);
    }
    // Unpacked beside it and renamed, so that a failure leaves no half container behind.
    const std::string partial = data + "/." + name + "." + std::to_string(::getpid());
    const bool directory = fs::is_directory(image, error);
    const int status =
        directory ? run({"cp", "-a", "--no-preserve=ownership", "--", image, partial})
                  : run({"unsquashfs", "-no-progress", "-quiet", "-user-xattrs", "-d", partial, image});
    if (status != 0) {
        remove_tree(partial);
        die(directory ? "could not copy the image " + image : "invalid image format: " + image);
    }
    fs::rename(partial, root, error);
    if (error) die("could not name the container " + name + ": " + error.message());
    return 0;
}

// A container's processes are those whose / is mounted from its directory.
std::vector<std::string> processes(const std::string& root) {
    std::vector<std::string> pids;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
        const std::string pid = entry.path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(pid.front())) == 0) continue;
        std::ifstream in(entry.path() / "mountinfo");
        for (std::string line; std::getline(in, line);) {
            std::istringstream words(line);
            std::string id, parent, device, from, at;
            words >> id >> parent >> device >> from >> at;
            if (at != "/") continue;
            if (from.size() > 1 && root.ends_with(from)) pids.push_back(pid);
            break;
        }
    }
    return pids;
}

int list(const std::string& data, const Arguments& arguments) {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(data, error)) {
        const std::string name = entry.path().filename().string();
        if (name.front() != '.') names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    if (arguments.has("fancy")) std::puts("NAME  PID  COMM");
    const std::string real = fs::canonical(data, error).string();
    for (const std::string& name : names) {
        const std::vector<std::string> pids =
            arguments.has("fancy") ? processes(real + "/" + name) : std::vector<std::string>();
        if (pids.empty()) std::puts(name.c_str());
        for (const std::string& pid : pids) {
            std::string command;
            std::ifstream("/proc/" + pid + "/comm") >> command;
            std::printf("%s  %s  %s\n", name.c_str(), pid.c_str(), command.c_str());
        }
    }
    return 0;
}

Mount parse_mount(const std::string& text) {
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
    Mount mount{text.substr(0, first), text.substr(0, first)};
    if (first != std::string::npos) mount.target = text.substr(first + 1, second - first - 1);
    if (second != std::string::npos) {
        mount.read_only = ("," + text.substr(second + 1) + ",").find(",ro,") != std::string::npos;
    }
    return mount;
}

// The real pyxis hands its mounts over in a shell script with a function that prints fstab lines.
void add_configured_mounts(const std::string& file, std::vector<Mount>& mounts) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) die("could not make a pipe", errno);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execlp("sh", "sh", "-c", ". \"$1\"; ! command -v mounts >/dev/null || mounts", "sh", file.c_str(),
                 nullptr);
        std::_Exit(1);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
        die("invalid configuration file: " + file);
    ::close(ends[0]);
    const std::vector<Mount> more = parse_fstab(text);
    mounts.insert(mounts.end(), more.begin(), more.end());
}

int start(const std::string& data, const Arguments& arguments) {
    if (arguments.rest.empty())
        die("usage: enroot start [--rw] [--mount SRC:DST[:FLAGS]] NAME [COMMAND [ARG...]]");
    Start start;
    start.root = container(data, arguments.rest.front());
    std::error_code error;
    if (!fs::is_directory(start.root, error)) die(no_such_container(arguments.rest.front()));
    start.root = fs::canonical(start.root, error).string();
    start.writable = arguments.has("rw") || yes(variable("ENROOT_ROOTFS_WRITABLE"));
    start.remap_root = arguments.has("root") || yes(variable("ENROOT_REMAP_ROOT"));
    if (arguments.has("conf")) add_configured_mounts(arguments.value("conf"), start.mounts);
    const auto mounts = arguments.options.equal_range("mount");
    for (auto it = mounts.first; it != mounts.second; ++it) start.mounts.push_back(parse_mount(it->second));
    const auto variables = arguments.options.equal_range("env");
    for (auto it = variables.first; it != variables.second; ++it) {
        const bool assigned = it->second.find('=') != std::string::npos;
        start.environment.push_back(assigned ? it->second : it->second + "=" + variable(it->second.c_str()));
    }
    start.command.assign(arguments.rest.begin() + 1, arguments.rest.end());
    if (start.command.empty()) start.command = {"/bin/sh"};
    start_container(start);
}

int remove(const std::string& data, const Arguments& arguments) {
    if (arguments.rest.empty()) die("usage: enroot remove [--force] NAME...");
    for (const std::string& name : arguments.rest) {
        const std::string root = container(data, name);
        std::error_code error;
        if (!fs::is_directory(root, error)) die(no_such_container(name));
        if (!arguments.has("force")) {
            std::fprintf(stderr, "Do you really want to delete %s? [y/N] ", root.c_str());
            if (const int answer = std::getchar(); answer != 'y' && answer != 'Y')
                die("not removed: " + name);
        }
        remove_tree(root);
    }
    return 0;
}

int export_image(const std::string& data, const Arguments& arguments) {
    if (arguments.rest.size() != 1) die("usage: enroot export [--force] [--output FILE] NAME");
    const std::string name = arguments.rest.front();
    const std::string root = container(data, name);
    std::error_code error;
    if (!fs::is_directory(root, error)) die(no_such_container(name));
    const std::string file = arguments.has("output") ? arguments.value("output") : name + ".sqsh";
    if (fs::exists(file, error)) {
        if (!arguments.has("force")) die("file already exists: " + file);
        fs::remove(file, error);
    }
    return run({"mksquashfs", root, file, "-quiet", "-no-progress", "-all-root"}) == 0 ? 0 : 1;
}

int main_(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "version") {
        std::puts(version);
        return 0;
    }
    if (command == "import" || command == "load") {
        die("the stand-in for enroot has no registry client; use a squashfs image or a directory");
    }
    load_configuration();
    if (command == "exec") {
        const Arguments arguments = parse(argc, argv, {});
        if (arguments.rest.size() < 2) die("usage: enroot exec PID COMMAND [ARG...]");
        enter_container(std::strtol(arguments.rest.front().c_str(), nullptr, 10),
                        {arguments.rest.begin() + 1, arguments.rest.end()});
    }
    if (command == "create") return create(data_path(), parse(argc, argv, {"n:name", "f force"}));
    if (command == "list") return list(data_path(), parse(argc, argv, {"f fancy"}));
    if (command == "remove") return remove(data_path(), parse(argc, argv, {"f force"}));
    if (command == "export") return export_image(data_path(), parse(argc, argv, {"f force", "o:output"}));
    if (command == "start") {
        return start(data_path(), parse(argc, argv, {"w rw", "r root", "c:conf", "m:mount", "e:env"}));
    }
    std::fputs("usage: enroot create|exec|export|list|remove|start|version ...\n", stderr);
    return command.empty() || command == "help" ? 0 : 1;
}

}  // namespace
}  // namespace standin

int main(int argc, char** argv) {
    return standin::main_(argc, argv);
}
