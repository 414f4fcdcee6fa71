// What the plan is computed from, as this machine has it now.
#include <sys/stat.h>

#include <algorithm>

#include "core/limits.hpp"
#include "core/plugstack_edit.hpp"
#include "posix/file.hpp"
#include "service/enroot_layout.hpp"
#include "service/path_check.hpp"
#include "service/pyxis_build.hpp"
#include "service/recorded_files.hpp"
#include "service/setup.hpp"
#include "service/slurm_headers.hpp"
#include "slurm/plugstack_files.hpp"

namespace llmgw::service {
namespace {

bool is_directory(const Directory& wanted) {
    struct stat status {};
    return ::stat(wanted.path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           (status.st_mode & 07777U) == wanted.mode;
}

}  // namespace

Result<Platform> Setup::platform() const {
    return options_.platform ? Result<Platform>(*options_.platform) : packages::platform_of_this_machine();
}

Result<packages::Manager*> Setup::manager() {
    if (manager_) return manager_.get();
    const Result<Platform> machine = platform();
    if (!machine) return machine.error();
    Result<std::unique_ptr<packages::Manager>> made =
        packages::manager_for(machine.value().family, runner_, options_.packages);
    if (!made) return made.error();
    manager_ = std::move(made).value();
    return manager_.get();
}

Result<StackSite> Setup::stack_site() const {
    return slurm::read_stack_site(stack_place(options_.paths), libraries());
}

StackLibraries Setup::libraries() const {
    return {options_.guard_dir + "/spank_llmgw.so", options_.guard_dir + "/spank_llmgw_options.so",
            options_.paths.pyxis, options_.run_dir == SetupOptions{}.run_dir ? "" : options_.run_dir};
}

void Setup::gather_plugstack(SetupFacts& facts) const {
    const Result<StackSite> site = stack_site();
    if (!site) {
        facts.plugstack_right = site.error();
        return;
    }
    if (const Result<std::string> theirs = site_pyxis(site.value()); theirs)
        facts.site_pyxis = theirs.value();
    const Result<FileEdits> withdrawal = without_pyxis(site.value());
    facts.our_pyxis_named = withdrawal && !withdrawal.value().empty();
    const Result<FileEdits> edits = stack_edits(site.value(), libraries(), true);
    facts.plugstack_right = edits ? Result<bool>(edits.value().empty()) : edits.error();
}

Result<void> Setup::gather_files(SetupFacts& facts, const ResolvedSettings& settings, bool thorough,
                                 const std::stop_token& stop) {
    const Result<EnrootLayout> layout = read_enroot_layout(places_of(options_.paths));
    if (!layout) {
        facts.wanted_files = layout.error();
        return {};
    }
    facts.wanted_files = enroot_files(settings, layout.value(), facts.gpu);
    std::set<std::string> wanted;
    if (facts.wanted_files) {
        for (const MachineFile& file : facts.wanted_files.value()) {
            wanted.insert(file.path);
            facts.files[file.path] = machine_file_at(file.path);
            if (!file.path.starts_with(layout.value().tmpfiles_directory + "/")) continue;
            for (const Directory& directory : directories_in(file.content)) {
                if (!is_directory(directory)) facts.missing_directories.push_back(directory.path);
            }
        }
        const Result<Ledger> ledger = ledger_.read();
        if (!ledger) return ledger.error();
        // Slurm's files and others are in the ledger, too.
        const std::vector<std::string> places = enroot_file_places(layout.value());
        for (const LedgerFile& file : ledger.value().files) {
            if (std::find(places.begin(), places.end(), file.path) == places.end()) continue;
            const std::optional<MachineFile> there = machine_file_at(file.path);
            if (!wanted.contains(file.path) && there && there->content == file.after) {
                facts.unwanted_files.push_back(file.path);
            }
        }
    }
    // A container that started is the better proof.
    if (facts.machine.proven && !thorough) return {};
    const std::vector<PathNeed> needs = path_needs(layout.value(), settings.shared_path);
    const Result<std::vector<PathFinding>> findings =
        probe_paths(needs, options_.paths.inspector, runner_, stop);
    facts.unfit_path = findings ? first_unfit(findings.value()) : findings.error().message;
    return {};
}

void Setup::gather_build(SetupFacts& facts) const {
    if (!facts.machine.slurm || !facts.platform) return;
    BuildTools tools;
    tools.family = facts.platform.value().family;
    const Result<SlurmHeaders> headers = find_slurm_headers(facts.machine.slurm.value(), tools);
    if (headers) {
        const Result<std::string> make = find_tool(tools, "make");
        if (make) return;
        facts.build_problem = make.error().message;
    } else {
        facts.build_problem = headers.error().message;
    }
    facts.build_packages = build_packages(tools.family);
}

Result<SetupFacts> Setup::gather(const ResolvedSettings& settings, bool thorough,
                                 const std::stop_token& stop) {
    SetupFacts facts;
    // An admin who asks gets what programs say now.
    Inspections nothing;
    Inspections& inspections = thorough ? nothing : inspections_;
    facts.machine = gather_facts(options_.paths, inspections).facts;
    if (options_.conduct == Conduct::observe) return facts;
    facts.platform = platform();
    if (!facts.platform) return facts;
    const Result<packages::Manager*> packages = manager();
    if (!packages) return packages.error();
    const Result<packages::Installed> installed = packages.value()->installed();
    facts.packages =
        installed ? Result<PackageFacts>(PackageFacts{installed.value().versions, installed.value().broken})
                  : installed.error();
    gather_cluster(facts, settings, stop);
    gather_users(facts, settings);
    facts.login = login_.look();
    if (!settings.wants_containers_on(facts.machine.machine)) return facts;
    // Looked at already where plugstack.conf names it.
    const MachineFacts& machine = facts.machine;
    facts.library = machine.pyxis_is_ours && machine.pyxis_file ? machine.pyxis
                                                                : built_pyxis(options_.paths, inspections);
    gather_plugstack(facts);
    gather_nvidia(facts);
    const bool built =
        facts.library && facts.machine.slurm &&
        check_pyxis(facts.library.value(), releases_.pyxis.version, facts.machine.slurm.value());
    if (!built || thorough) gather_build(facts);
    if (const Result<void> gathered = gather_files(facts, settings, thorough, stop); !gathered)
        return gathered.error();
    if (!built || !facts.machine.enroot || facts.machine.enroot.value() != releases_.enroot.version ||
        thorough) {
        std::vector<PinnedFile> files{releases_.pyxis.source};
        if (const auto pinned = enroot_packages(releases_, facts.platform.value())) {
            files.insert(files.end(), pinned.value().begin(), pinned.value().end());
        }
        for (const PinnedFile& file : files) {
            if (is_cached(options_.fetch, file)) facts.cached.insert(file.sha256);
        }
    }
    return facts;
}

}  // namespace llmgw::service
