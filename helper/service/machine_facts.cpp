#include "service/machine_facts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "slurm/installation.hpp"
#include "slurm/nobody.hpp"
#include "slurm/plugin_file.hpp"
#include "slurm/plugstack_files.hpp"

namespace llmgw::service {
namespace {

constexpr std::size_t boot_id_bytes = 64;
constexpr std::size_t reason_bytes = 200;
constexpr std::size_t version_bytes = 32;

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string boot_id() {
    const Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id", boot_id_bytes);
    return id ? id.value().substr(0, id.value().find('\n')) : "unknown";
}

// What root runs, or loads into Slurm's daemons, must be root's alone.
Result<FileFacts> file_facts(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return Error{Code::missing, path + " is not there"};
    if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is not a file"};
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
        return Error{Code::denied, path + " does not belong to root"};
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error{Code::denied, path + " can be written by others than root"};
    }
    const Result<FileStamp> stamp = stamp_of(path);
    if (!stamp) return stamp.error();
    return FileFacts{path, stamp.value().text()};
}

Result<std::string> enroot_version(const std::string& path) {
    Command command;
    command.argv = {path, "version"};
    slurm::run_as_nobody(command);
    const Result<Outcome> outcome = run(command);
    if (!outcome) return outcome.error();
    const std::string said = last_line(outcome.value().output);
    if (!outcome.value().success()) {
        return Error{Code::invalid, path + " does not start: " + shortened(said, reason_bytes)};
    }
    return shortened(said, version_bytes);
}

// A plugin without a directory is looked for in Slurm's, where libslurmfull.so is (22.05 plugstack.c:403).
std::string as_loaded(const std::string& plugin, const Result<slurm::Installation>& installation) {
    if (plugin.starts_with('/') || !installation) return plugin;
    return directory_of(installation.value().library) + "/" + plugin;
}

}  // namespace

Gathered gather_facts(const MachinePaths& paths) {
    Gathered gathered;
    MachineFacts& facts = gathered.facts;
    facts.machine = paths.machine;
    facts.boot = boot_id();
    facts.oci = ::access((paths.slurm_conf_dir + "/oci.conf").c_str(), F_OK) == 0;
    gathered.watch = {paths.slurm_conf_dir, directory_of(paths.enroot)};

    const Result<slurm::Installation> installation = slurm::find_installation(paths.slurm_library);
    facts.slurm = installation ? Result<std::string>(installation.value().version) : installation.error();

    const Result<slurm::PlugstackFiles> files = slurm::read_plugstack(paths.plugstack);
    facts.plugstack = files ? Result<Plugstack>(files.value().stack) : files.error();
    if (files) {
        const std::vector<std::string>& directories = files.value().directories;
        gathered.watch.insert(gathered.watch.end(), directories.begin(), directories.end());
        if (const std::optional<std::string> named = pyxis_in(files.value().stack)) {
            const std::string pyxis = as_loaded(*named, installation);
            gathered.watch.push_back(directory_of(pyxis));
            facts.pyxis_file = file_facts(pyxis);
            if (facts.pyxis_file && installation) {
                facts.pyxis = slurm::inspect_plugin(paths.inspector, pyxis, installation.value().library);
            }
        }
    }
    facts.enroot_file = file_facts(paths.enroot);
    if (facts.enroot_file) facts.enroot = enroot_version(paths.enroot);
    return gathered;
}

}  // namespace llmgw::service
