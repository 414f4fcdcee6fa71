#include "fake_node.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "posix/file.hpp"

extern "C" {
int slurm_spank_init(spank_t, int, char**);
int slurm_spank_task_init(spank_t, int, char**);
}

namespace llmgw::fake {
namespace {

using Entry = int (*)(spank_t, int, char**);

void call(Entry entry, std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    if (entry(handle(), static_cast<int>(words.size()), pointers.data()) != 0) {
        std::fputs("an entry point failed\n", stderr);
        ::_exit(3);
    }
}

std::string boot_id() {
    std::string id = read_file("/proc/sys/kernel/random/boot_id", 64).value();
    id.pop_back();
    return id;
}

}  // namespace

Node::Node() {
    std::string name = std::filesystem::temp_directory_path() / "llmgw-guard-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(path("root"));
    std::filesystem::copy_file(FAKE_PYXIS, path("spank_pyxis.so"));
    write("enroot", "#!/bin/sh\n", 0755);
    lines = {{"run_dir=" + directory_}, {"verify", "run_dir=" + directory_}};
    state.machine = "n1";
    state.ready = true;
    state.reason = "pyxis 0.24.0, enroot 4.2.1";
    state.boot = boot_id();
    state.pyxis_path = path("spank_pyxis.so");
    state.pyxis_fingerprint = stamp_of(state.pyxis_path).value().text();
    state.enroot_path = path("enroot");
    state.enroot_fingerprint = stamp_of(state.enroot_path).value().text();
    vouch();
    reset();
    spank().environment["SLURMD_NODENAME"] = "n1";
}

Node::~Node() {
    std::filesystem::remove_all(directory_);
}

void Node::write(const std::string& name, const std::string& content, unsigned mode) const {
    if (!write_file_atomically(path(name), content, mode, Durability::volatile_)) std::abort();
}

void Node::vouch() const {
    write("node", format_node_state(state));
}

void Node::run_step() const {
    if (pyxis_mapped && ::dlopen(path("spank_pyxis.so").c_str(), RTLD_LAZY) == nullptr) ::_exit(4);
    for (const auto& line : lines) call(slurm_spank_init, line);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == lines_before_pyxis) pyxis_enters();
        call(slurm_spank_task_init, lines[i]);
    }
    std::fputs("the task runs\n", stderr);
    ::_exit(0);
}

bool may_enter_container() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 && ::chroot("/tmp") == 0 ? 0 : 1);
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

void enter_mount_namespace() {
    if (::unshare(CLONE_NEWNS) != 0) ::_exit(5);
}

void enter_root(const std::string& directory) {
    if (::chroot(directory.c_str()) != 0 || ::chdir("/") != 0) ::_exit(6);
}

}  // namespace llmgw::fake
