// What each action of the plan does to this machine. The ledger is written before the effect.
#include <sys/stat.h>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/plugstack_edit.hpp"
#include "core/text.hpp"
#include "posix/apply_edits.hpp"
#include "posix/file.hpp"
#include "service/config_trial.hpp"
#include "service/proof.hpp"
#include "service/pyxis_build.hpp"
#include "service/recorded_files.hpp"
#include "service/setup.hpp"
#include "service/slurm_headers.hpp"
#include "slurm/installation.hpp"

namespace llmgw::service {
namespace {

constexpr const char* tmpfiles_program = "/usr/bin/systemd-tmpfiles";

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

// The directories of `path` that are not there, the outermost first.
std::vector<std::string> missing_parents(std::string path) {
    std::vector<std::string> missing;
    for (path = directory_of(path); path != "/" && !exists(path); path = directory_of(path)) {
        missing.insert(missing.begin(), path);
    }
    return missing;
}

}  // namespace

Result<void> Setup::perform(const Action& action, const SetupFacts& facts, SetupObserver& observer,
                            const std::stop_token& stop) {
    const packages::Progress note = [&](const std::string& sentence) { observer.on_note(sentence); };
    return std::visit(
        Overloaded{
            [&](const action::RepairPackages&) -> Result<void> {
                const Result<packages::Manager*> packages = manager();
                return packages ? packages.value()->repair(note, stop) : packages.error();
            },
            [&](const action::Fetch& fetch) -> Result<void> {
                const FetchProgress bytes = [&](std::uint64_t done, std::uint64_t total) {
                    observer.on_bytes(done, total);
                };
                return fetch_pinned(fetch.files, options_.fetch, bytes, stop);
            },
            [&](const action::InstallPackages& what) { return install(what, note, stop); },
            [&](const action::AddNvidiaRepository&) { return add_nvidia(note, stop); },
            [&](const action::InstallNvidiaPackages&) { return install_nvidia(note, stop); },
            [&](const action::WriteFiles& what) { return write_files(what.files); },
            [&](const action::RemoveFiles& what) { return remove_files(what.paths); },
            [&](const action::ApplyTmpfiles& what) { return apply_tmpfiles(what.path, stop); },
            [&](const action::BuildPyxis&) { return build(facts, stop); },
            [&](const action::Prove&) { return prove(facts, stop); },
            [&](const action::EditPlugstack& what) { return edit_plugstack(what.with_pyxis, stop); },
            [&](const action::ApplyUsers& what) { return apply_users(what.settings, observer, stop); },
            [&](const action::WriteSshdDropIn& what) { return sshd_.write(what.file); },
            [&](const action::WriteSharedFiles& what) {
                return storage_.write(what.files, what.unwanted, stop);
            },
            [&](const action::MountShared& what) { return storage_.mount(what.path, stop); },
            [&](const action::ExportShared& what) { return storage_.export_path(what.path, stop); },
            [&](const action::GuardLogins&) { return login_.guard(stop); },
            [&](const action::LeaveLogins&) { return login_.leave(stop); },
            [&](const action::ClaimCluster&) {
                return ledger_.change([](Ledger& ledger) { ledger.cluster = true; });
            },
            [&](const action::ReloadUnits&) {
                return command({"/usr/bin/systemctl", "daemon-reload"}, stop);
            },
            [&](const action::PutMungeKey&) { return put_munge_key(); },
            [&](const action::TrySlurmConfig& what) {
                return try_slurm_config(what.config, options_.paths.inspector, options_.state_dir + "/trial",
                                        runner_, stop);
            },
            [&](const action::StartUnit& what) { return start_unit(what, stop); },
            [&](const action::StopUnit& what) { return stop_unit(what.unit, stop); },
            [&](const action::TellSlurm& what) { return tell_slurm(what, stop); },
            [&](const action::DrainNodes& what) { return drain_nodes(what, stop); },
        },
        action);
}

Result<void> Setup::remember_parents(const std::string& path) {
    const std::vector<std::string> missing = missing_parents(path);
    if (missing.empty()) return {};
    return ledger_.change([&](Ledger& ledger) {
        for (const std::string& directory : missing) ledger.add_directory(directory);
    });
}

Result<void> Setup::install(const action::InstallPackages& what, const packages::Progress& note,
                            const std::stop_token& stop) {
    packages::Wanted wanted;
    wanted.names = what.names;
    for (const PinnedFile& file : what.files) {
        // Checked again: days may lie between the download and this.
        if (!is_cached(options_.fetch, file)) {
            return Error{Code::invalid,
                         cached_path(options_.fetch, file) + " is not what was downloaded any more"};
        }
        wanted.files.push_back(cached_path(options_.fetch, file));
    }
    return install_wanted(wanted, note, stop);
}

Result<void> Setup::install_wanted(const packages::Wanted& wanted, const packages::Progress& note,
                                   const std::stop_token& stop) {
    const Result<packages::Manager*> packages = manager();
    if (!packages) return packages.error();
    const Result<packages::Preview> preview = packages.value()->preview(wanted, stop);
    if (!preview) return preview.error();
    const Result<void> kept =
        ledger_.change([&](Ledger& ledger) { ledger.add_packages(preview.value().added); });
    if (!kept) return kept.error();
    return packages.value()->install(wanted, note, stop);
}

Result<void> Setup::write_files(const std::vector<MachineFile>& files) {
    for (const MachineFile& file : files) {
        if (const Result<void> kept = remember_parents(file.path); !kept) return kept.error();
        if (const Result<void> written = write_recorded(ledger_, file); !written) return written;
    }
    return {};
}

Result<void> Setup::remove_files(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (const Result<void> removed = remove_file(path); !removed) return removed;
    }
    return ledger_.change([&](Ledger& ledger) {
        for (const std::string& path : paths) {
            std::erase_if(ledger.files, [&](const LedgerFile& file) { return file.path == path; });
        }
    });
}

Result<void> Setup::apply_tmpfiles(const std::string& path, const std::stop_token& stop) {
    const Result<std::string> text = read_file(path, limits::settings_bytes);
    if (!text) return text.error();
    const std::vector<Directory> directories = directories_in(text.value());
    const Result<void> kept = ledger_.change([&](Ledger& ledger) {
        for (const Directory& directory : directories) {
            for (const std::string& missing : missing_parents(directory.path + "/x"))
                ledger.add_directory(missing);
        }
    });
    if (!kept) return kept.error();
    Task task;
    task.unit = "llmgw-slurm-directories";
    task.description = "llmgw-slurm: makes the directories of " + path;
    task.argv = {tmpfiles_program, "--create", path};
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    task.deadline = limits::program_deadline;
    const Result<TaskResult> ran = runner_.run(task, stop);
    if (ran && ran.value().success()) return {};
    if (ran)
        return Error{Code::internal,
                     "systemd-tmpfiles --create " + path + ": " + last_words(ran.value().output, 2)};
    return ran.error();
}

Result<void> Setup::build(const SetupFacts& facts, const std::stop_token& stop) {
    if (!facts.machine.slurm) return facts.machine.slurm.error();
    const Result<slurm::Installation> installation = slurm::find_installation(options_.paths.slurm_library);
    if (!installation) return installation.error();
    PyxisBuild build;
    BuildTools tools;
    if (facts.platform) tools.family = facts.platform.value().family;
    const Result<SlurmHeaders> headers = find_slurm_headers(facts.machine.slurm.value(), tools);
    if (!headers) return headers.error();
    build.source = cached_path(options_.fetch, releases_.pyxis.source);
    build.sha256 = releases_.pyxis.source.sha256;
    build.version = releases_.pyxis.version;
    build.slurm_version = facts.machine.slurm.value();
    build.slurm_library = installation.value().library;
    build.inspector = options_.paths.inspector;
    build.headers = headers.value();
    build.tools = tools;
    build.target = options_.paths.pyxis;
    build.deadline = options_.build_deadline;
    build.work = options_.state_dir + "/build";
    if (const Result<void> kept = remember_parents(build.target); !kept) return kept.error();
    const Result<void> kept = ledger_.change([&](Ledger& ledger) { ledger.pyxis = build.target; });
    if (!kept) return kept.error();
    const Result<PluginFacts> built = build_pyxis(build, runner_, stop);
    return built ? Result<void>() : built.error();
}

Result<void> Setup::prove(const SetupFacts& facts, const std::stop_token& stop) {
    Proof proof;
    proof.enroot = options_.paths.enroot;
    proof.init = options_.proof_init;
    proof.run_dir = options_.run_dir;
    proof.gpu = facts.gpu;
    proof.capabilities = facts.packages && facts.packages.value().versions.contains("enroot+caps");
    const Result<void> proven = prove_containers(proof, runner_, stop);
    return proven ? keep_proof(options_.paths) : proven.error();
}

Result<void> Setup::edit_plugstack(bool with_pyxis, const std::stop_token& stop) {
    const Result<StackSite> site = stack_site();
    if (!site) return site.error();
    const Result<FileEdits> edits =
        with_pyxis ? stack_edits(site.value(), libraries(), true) : without_pyxis(site.value());
    if (!edits) return edits.error();
    for (const FileEdit& edit : edits.value()) {
        if (const Result<void> kept = remember_parents(edit.path); !kept) return kept.error();
    }
    const Result<void> kept = ledger_.change([](Ledger& ledger) { ledger.plugstack = true; });
    if (!kept) return kept.error();
    const Result<void> done = apply_edits(edits.value());
    return done && site.value().published && !edits.value().empty() ? tell_slurmctld(stop) : done;
}

// Machines that have their configuration from this slurmctld get the file with this and not before.
Result<void> Setup::tell_slurmctld(const std::stop_token& stop) {
    Task task;
    task.unit = "llmgw-slurm-reconfigure";
    task.description = "llmgw-slurm: has slurmctld hand out plugstack.conf";
    task.argv = {"/usr/bin/scontrol", "reconfigure"};
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    task.deadline = std::chrono::seconds(120);
    const Result<TaskResult> ran = runner_.run(task, stop);
    if (ran && ran.value().success()) return {};
    const std::string why = ran ? last_words(ran.value().output, 1) : ran.error().message;
    return Error{Code::unavailable, "plugstack.conf is written, but \"scontrol reconfigure\" failed: " + why};
}

}  // namespace llmgw::service
