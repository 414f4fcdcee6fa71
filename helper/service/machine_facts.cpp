#include "service/machine_facts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/limits.hpp"
#include "core/state_text.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "slurm/daemon_facts.hpp"
#include "slurm/installation.hpp"
#include "slurm/nobody.hpp"
#include "slurm/plugin_file.hpp"
#include "slurm/plugstack_files.hpp"

namespace llmgw::service {
namespace {

constexpr std::size_t boot_id_bytes = 64;
constexpr std::size_t reason_bytes = 200;
constexpr std::size_t version_bytes = 32;

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

Result<PluginFacts> inspect(const std::string& inspector, const std::string& plugin,
                            const slurm::Installation& installation, Inspections& inspections) {
    return inspections.plugins.get(
        plugin, stamps_of({plugin, installation.library, installation.program}),
        [&] { return slurm::inspect_plugin(inspector, plugin, installation.library); });
}

SlurmdFacts slurmd_here(const MachinePaths& paths) {
    slurm::DaemonPlaces places;
    places.machine = paths.machine;
    places.slurm_conf = paths.slurm_conf_dir + "/slurm.conf";
    places.plugstack = paths.plugstack;
    return slurm::read_slurmd(places);
}

constexpr const char* proof_header = "llmgw-slurm-proof 1";
constexpr mode_t everyone_reads = 0644;

void add_fingerprint(std::vector<std::string>& subject, const std::string& path) {
    const Result<FileStamp> stamp = stamp_of(path);
    if (stamp) subject.push_back(path + "=" + stamp.value().text());
}

// Files of a directory and of those in it; hooks, mounts and settings of enroot are two levels deep.
void add_files(std::vector<std::string>& subject, const std::string& directory, const std::string& prefix,
               int depth) {
    namespace fs = std::filesystem;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (!name.starts_with(prefix)) continue;
        std::error_code ignored;
        if (entry->is_directory(ignored)) {
            if (depth > 0) add_files(subject, entry->path(), "", depth - 1);
        } else {
            add_fingerprint(subject, entry->path());
        }
    }
}

bool is_proven(const MachinePaths& paths) {
    const Result<StateFile> file = read_state_file(paths.proof, limits::state_file_bytes);
    if (!file) return false;
    const Result<StateFields> fields = parse_state_text(file.value().content, proof_header);
    if (!fields) return false;
    const Result<std::string> subject = state_field(fields.value(), "subject");
    return subject && subject.value() == proof_subject(paths);
}

// Nothing: slurmd is not installed, or doesn't say.
std::optional<NodeHardware> hardware_here(Inspections& inspections) {
    const std::string slurmd = "/usr/sbin/slurmd";
    if (::access(slurmd.c_str(), X_OK) != 0) return std::nullopt;
    const Result<NodeHardware> hardware = inspections.hardware.get(slurmd, stamps_of({slurmd}), [&] {
        Command command;
        command.argv = {slurmd, "-C"};
        slurm::run_as_nobody(command);
        const Result<Outcome> outcome = run(command);
        return outcome ? parse_slurmd_hardware(outcome.value().output) : outcome.error();
    });
    if (!hardware) return std::nullopt;
    NodeHardware found = hardware.value();
    std::vector<std::string> devices;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/dev", error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_character_file(ignored)) devices.push_back(entry->path().filename());
    }
    found.gpus = gpus_in(devices);
    return found;
}

// A change of one of these is somebody's, to be looked into.
std::string cluster_fingerprint(const std::string& slurm_conf_dir) {
    std::vector<std::string> subject;
    for (const std::string& path :
         {slurm_conf_dir + "/slurm.conf", slurm_conf_dir + "/cgroup.conf", slurm_conf_dir + "/gres.conf",
          std::string("/etc/munge/munge.key"), std::string("/etc/llmgw-slurm/slurm.conf")}) {
        add_fingerprint(subject, path);
    }
    return join(subject, " ");
}

}  // namespace

EnrootPlaces places_of(const MachinePaths& paths) {
    EnrootPlaces places;
    places.program = paths.enroot;
    places.directory = paths.enroot_conf_dir;
    return places;
}

std::string proof_subject(const MachinePaths& paths) {
    std::vector<std::string> subject;
    add_files(subject, directory_of(paths.enroot), "enroot", 0);
    add_files(subject, paths.enroot_conf_dir, "", 1);
    std::sort(subject.begin(), subject.end());
    std::string line = boot_id();
    for (const std::string& each : subject) line += " " + each;
    return line;
}

Result<void> keep_proof(const MachinePaths& paths) {
    const std::string text = format_state_text(proof_header, {{"subject", proof_subject(paths)}});
    return write_file_atomically(paths.proof, text, everyone_reads, Durability::volatile_);
}

slurm::StackPlace stack_place(const MachinePaths& paths) {
    return slurm::stack_place(slurmd_here(paths));
}

Result<PluginFacts> built_pyxis(const MachinePaths& paths, Inspections& inspections) {
    const Result<FileFacts> file = file_facts(paths.pyxis);
    if (!file) return file.error();
    const Result<slurm::Installation> installation =
        slurm::find_installation(paths.slurm_library, inspections.versions);
    if (!installation) return installation.error();
    return inspect(paths.inspector, paths.pyxis, installation.value(), inspections);
}

Gathered gather_facts(const MachinePaths& paths) {
    Inspections nothing;
    return gather_facts(paths, nothing);
}

Gathered gather_facts(const MachinePaths& paths, Inspections& inspections) {
    Gathered gathered;
    MachineFacts& facts = gathered.facts;
    facts.machine = paths.machine;
    facts.boot = boot_id();
    facts.oci = ::access((paths.slurm_conf_dir + "/oci.conf").c_str(), F_OK) == 0;
    gathered.watch = {paths.slurm_conf_dir, directory_of(paths.enroot)};

    const Result<slurm::Installation> installation =
        slurm::find_installation(paths.slurm_library, inspections.versions);
    facts.slurm = installation ? Result<std::string>(installation.value().version) : installation.error();

    const SlurmdFacts slurmd = slurmd_here(paths);
    facts.pending = to_tell(slurmd, {}).sentence;
    const Result<slurm::PlugstackFiles> files = slurm::read_plugstack(slurm::stack_place(slurmd).path);
    facts.plugstack = files ? Result<Plugstack>(files.value().stack) : files.error();
    if (files) {
        const std::vector<std::string>& directories = files.value().directories;
        gathered.watch.insert(gathered.watch.end(), directories.begin(), directories.end());
        if (const std::optional<std::string> named = pyxis_in(files.value().stack)) {
            const std::string pyxis = as_loaded(*named, installation);
            gathered.watch.push_back(directory_of(pyxis));
            facts.pyxis_is_ours = pyxis == paths.pyxis;
            facts.pyxis_file = file_facts(pyxis);
            if (facts.pyxis_file && installation) {
                facts.pyxis = inspect(paths.inspector, pyxis, installation.value(), inspections);
            }
        }
    }
    facts.enroot_file = file_facts(paths.enroot);
    if (facts.enroot_file) {
        // What a proof is about is also all that its answer depends on.
        facts.enroot = inspections.enroot.get(paths.enroot, stamps_of({paths.enroot}) + proof_subject(paths),
                                              [&] { return enroot_version(paths.enroot); });
    }
    facts.proven = is_proven(paths);
    if (const Result<EnrootLayout> layout = read_enroot_layout(places_of(paths))) {
        facts.user_directories = user_directories(layout.value());
        facts.doubts = layout.value().doubts;
    }
    facts.hardware = hardware_here(inspections);
    facts.cluster = cluster_fingerprint(paths.slurm_conf_dir);
    // Where slurmd and what is a site's own come.
    gathered.watch.emplace_back("/usr/sbin");
    gathered.watch.emplace_back("/etc/llmgw-slurm");
    // Slurm's own libraries, which an upgrade replaces before it restarts slurmd, and the one that we build.
    if (installation) gathered.watch.push_back(directory_of(installation.value().library));
    gathered.watch.push_back(directory_of(paths.pyxis));
    gathered.watch.push_back(paths.enroot_conf_dir);
    std::sort(gathered.watch.begin(), gathered.watch.end());
    gathered.watch.erase(std::unique(gathered.watch.begin(), gathered.watch.end()), gathered.watch.end());
    return gathered;
}

}  // namespace llmgw::service
