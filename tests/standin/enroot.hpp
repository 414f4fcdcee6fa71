#pragma once

#include <string>
#include <string_view>
#include <vector>

// The stand-in for NVIDIA's enroot: the subcommands that pyxis, its stand-in and the helper's proof use, with
// the same words on the command line. It exists for tests on machines that can't get the real one.
namespace standin {

struct Mount {
    std::string source;  // "tmpfs" where `fresh`
    std::string target;  // in the container; below its root file system it is made if it is missing
    bool read_only = false;
    bool fresh = false;           // an empty tmpfs rather than what `source` is
    bool may_be_missing = false;  // then it is left out
};

struct Start {
    std::string root;  // the container's root file system on the host
    std::vector<Mount> mounts;
    std::vector<std::string> environment;  // NAME=VALUE
    std::vector<std::string> command;
    bool writable = false;
    bool remap_root = false;
};

// Prints "[ERROR] ..." the way the real one does and ends the program.
[[noreturn]] void die(std::string_view what, int error = 0);

// An environment variable, empty where it isn't set.
std::string variable(const char* name);

// Reads enroot.conf and enroot.conf.d/*.conf into the environment; what is there already wins, as in the real
// program. The files beside the program (prefix/bin/enroot, prefix/etc/enroot) come before /etc/enroot.
void load_configuration();

// The directory with enroot.conf, as load_configuration() found it.
std::string system_directory();

// Lines of an fstab as mounts.d/*.fstab has them: SOURCE TARGET TYPE OPTIONS.
std::vector<Mount> parse_fstab(const std::string& text);

// What mounts.d/*.fstab and environ.d/*.env say, ${NAME} put in from the environment.
std::vector<Mount> configured_mounts();
std::vector<std::string> configured_environment();

// Runs hooks.d/*.sh, as the real one does in the container's mount namespace before it switches to its root;
// they may add to both.
void run_hooks(const std::string& root, std::vector<std::string>& environment, std::vector<Mount>& mounts);

// The directory that holds this user's containers; made if it is missing.
std::string data_path();

// Enters new user and mount namespaces with `start.root` as / and becomes the command. Does not return.
[[noreturn]] void start_container(const Start& start);

// Enters the namespaces of a container's process and becomes the command. Does not return.
[[noreturn]] void enter_container(long pid, const std::vector<std::string>& command);

}  // namespace standin
