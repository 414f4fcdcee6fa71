#include "core/plan.hpp"

#include <algorithm>
#include <utility>

#include "core/cluster_plan.hpp"
#include "core/plan_login.hpp"
#include "core/plan_steps.hpp"
#include "core/plan_users.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

using Actions = std::vector<Action>;

// Everything the steps are made from.
struct Sources {
    const ResolvedSettings& settings;
    const Releases& releases;
    const SetupFacts& facts;
    Platform platform;
    std::vector<PinnedFile> enroot_files;
};

// "4.2.1-1" and "4.2.1-1.el8" are packages of 4.2.1.
bool packages_version(const std::string& package, const std::string& version) {
    return package == version || package.starts_with(version + "-");
}

std::string installed_version(const SetupFacts& facts, const std::string& package) {
    if (!facts.packages) return {};
    const auto found = facts.packages.value().versions.find(package);
    return found == facts.packages.value().versions.end() ? "" : found->second;
}

bool enroot_installed(const Sources& from) {
    const std::string& version = from.releases.enroot.version;
    return packages_version(installed_version(from.facts, "enroot"), version) &&
           packages_version(installed_version(from.facts, "enroot+caps"), version) &&
           from.facts.machine.enroot && from.facts.machine.enroot.value() == version;
}

// Why the library that we build can't be used; nothing: it can.
std::optional<std::string> library_problem(const Sources& from) {
    const SetupFacts& facts = from.facts;
    if (!facts.library) return facts.library.error().message;
    const PluginFacts& library = facts.library.value();
    if (!facts.machine.slurm) return facts.machine.slurm.error().message;
    if (!is_of_slurm(library.slurm, facts.machine.slurm.value())) {
        return "pyxis was built for Slurm " + full_version(library.slurm) + ", this machine has " +
               facts.machine.slurm.value();
    }
    if (library.version != from.releases.pyxis.version) {
        return "pyxis is " + library.version + ", wanted is " + from.releases.pyxis.version;
    }
    return std::nullopt;
}

Step slurm_step(const Sources& from) {
    Step made = step("slurm", "find Slurm");
    if (from.facts.machine.slurm)
        return is_done(std::move(made), "Slurm " + from.facts.machine.slurm.value());
    return is_missing(std::move(made), "Slurm: " + from.facts.machine.slurm.error().message, {});
}

Step repair_step(const Sources& from) {
    Step made = step("package-state", "finish what an interrupted package manager left");
    if (!from.facts.packages) return is_missing(std::move(made), from.facts.packages.error().message, {});
    const std::vector<std::string>& broken = from.facts.packages.value().broken;
    if (broken.empty()) return is_done(std::move(made), "no package is half installed");
    return is_missing(std::move(made), "half installed: " + join(broken, ", "), {action::RepairPackages{}});
}

Step download_step(const Sources& from) {
    Step made = step("download", "download what is pinned");
    made.undo = "removes the downloads";
    std::vector<PinnedFile> needed;
    if (!enroot_installed(from)) needed = from.enroot_files;
    if (from.facts.site_pyxis.empty() && library_problem(from)) needed.push_back(from.releases.pyxis.source);
    std::erase_if(needed, [&](const PinnedFile& file) { return from.facts.cached.contains(file.sha256); });
    if (needed.empty()) return is_done(std::move(made), "nothing is left to download");
    std::vector<std::string> names;
    for (const PinnedFile& file : needed) names.push_back(file.name);
    return is_missing(std::move(made), "not here yet: " + join(names, ", "), {action::Fetch{needed}});
}

Step enroot_step(const Sources& from) {
    const std::string& version = from.releases.enroot.version;
    Step made = step("enroot-packages", "install enroot " + version);
    made.undo = "removes enroot, enroot+caps and what came with them, where we installed them";
    if (enroot_installed(from))
        return is_done(std::move(made), "enroot and enroot+caps " + version + " are installed");
    std::string finding;
    for (const char* package : {"enroot", "enroot+caps"}) {
        const std::string installed = installed_version(from.facts, package);
        if (packages_version(installed, version)) continue;
        finding += (finding.empty() ? "" : "; ") + std::string(package) +
                   (installed.empty() ? " is not installed" : " is " + installed + ", wanted is " + version);
    }
    if (finding.empty()) {
        finding = "enroot: " +
                  (from.facts.machine.enroot ? "another version answers, " + from.facts.machine.enroot.value()
                   : from.facts.machine.enroot_file ? from.facts.machine.enroot.error().message
                                                    : from.facts.machine.enroot_file.error().message);
    }
    return is_missing(std::move(made), finding, {action::InstallPackages{from.enroot_files, {}}});
}

Step nvidia_repository_step(const Sources& from) {
    Step made = step("nvidia-repository", "add NVIDIA's repository");
    made.undo = "removes the repository's files and key";
    const Result<bool>& there = from.facts.nvidia_repository;
    if (there && there.value()) return is_done(std::move(made), "the repository is there");
    return is_missing(std::move(made), there ? "NVIDIA's repository is not there" : there.error().message,
                      {action::AddNvidiaRepository{}});
}

Step nvidia_packages_step(const Sources& from) {
    const std::string& package = from.releases.nvidia.package;
    Step made = step("nvidia-packages", "install " + package);
    made.undo = "removes them, where we installed them";
    const Result<bool>& there = from.facts.nvidia_packages;
    if (there && there.value())
        return is_done(std::move(made), package + " and what belongs to it are at one version");
    return is_missing(std::move(made),
                      there ? package + " is not installed at one held version" : there.error().message,
                      {action::InstallNvidiaPackages{}});
}

Step paths_step(const Sources& from) {
    Step made = step("container-paths", "look at the file systems that containers live in");
    if (from.facts.unfit_path.empty()) return is_done(std::move(made), "they can hold containers");
    return is_missing(std::move(made), from.facts.unfit_path, {});
}

Step files_step(const Sources& from) {
    Step made = step("enroot-settings", "write enroot's settings");
    made.undo = "removes them";
    const auto& wanted = from.facts.wanted_files;
    if (!wanted) return is_missing(std::move(made), wanted.error().message, {});
    std::vector<MachineFile> different;
    std::vector<std::string> names;
    std::string tmpfiles;
    for (const MachineFile& file : wanted.value()) {
        if (file.path.starts_with("/etc/tmpfiles.d/")) tmpfiles = file.path;
        const auto there = from.facts.files.find(file.path);
        if (there != from.facts.files.end() && there->second == file) continue;
        names.push_back(file.path);
        different.push_back(file);
    }
    const std::vector<std::string>& unwanted = from.facts.unwanted_files;
    if (different.empty() && from.facts.missing_directories.empty() && unwanted.empty()) {
        std::string finding = "they are as they should be";
        for (const std::string& doubt : from.facts.machine.doubts) finding += "; " + doubt;
        return is_done(std::move(made), finding);
    }
    Actions apply;
    if (!different.empty()) apply.emplace_back(action::WriteFiles{different});
    if (!tmpfiles.empty()) apply.emplace_back(action::ApplyTmpfiles{tmpfiles});
    if (!unwanted.empty()) apply.emplace_back(action::RemoveFiles{unwanted});
    names.insert(names.end(), from.facts.missing_directories.begin(), from.facts.missing_directories.end());
    names.insert(names.end(), unwanted.begin(), unwanted.end());
    return is_missing(std::move(made), "missing or different: " + join(names, ", "), apply);
}

Step withdraw_step(const Sources& from) {
    Step made = step("pyxis-withdrawal", "take pyxis out of plugstack.conf while its library is not right");
    const std::optional<std::string> problem = library_problem(from);
    if (!problem || !from.facts.our_pyxis_named) {
        return is_done(std::move(made), "plugstack.conf names no pyxis that is not right");
    }
    return is_missing(std::move(made), *problem, {action::EditPlugstack{false}});
}

Step tools_step(const Sources& from) {
    Step made = step("build-tools", "install what building pyxis needs");
    made.undo = "removes what we installed";
    if (!library_problem(from)) return is_done(std::move(made), "pyxis is built");
    if (from.facts.build_problem.empty()) {
        return is_done(std::move(made), "compiler, make and Slurm's headers are there");
    }
    if (from.facts.build_packages.empty()) return is_missing(std::move(made), from.facts.build_problem, {});
    return is_missing(std::move(made), from.facts.build_problem,
                      {action::InstallPackages{{}, from.facts.build_packages}});
}

Step pyxis_step(const Sources& from) {
    Step made = step("pyxis", "build pyxis " + from.releases.pyxis.version);
    made.undo = "removes the library";
    if (const std::optional<std::string> problem = library_problem(from)) {
        return is_missing(std::move(made), *problem, {action::BuildPyxis{}});
    }
    return is_done(std::move(made), "pyxis " + from.releases.pyxis.version + " is built for Slurm " +
                                        from.facts.machine.slurm.value());
}

Step proof_step(const Sources& from) {
    Step made = step("proof", "prove that a user's container starts");
    if (from.facts.machine.proven)
        return is_done(std::move(made), "a container was created, started and removed");
    return is_missing(std::move(made), "not tried yet with what is installed now", {action::Prove{}});
}

Step plugstack_step(const Sources& from) {
    Step made = step("plugstack", "put guard and pyxis into plugstack.conf");
    made.undo = "takes our lines out again";
    const Result<bool>& right = from.facts.plugstack_right;
    if (!right) return is_missing(std::move(made), right.error().message, {});
    const std::string& pending = from.facts.machine.pending;
    if (right.value())
        return is_done(std::move(made), "our lines are there" + (pending.empty() ? "" : "; " + pending));
    return is_missing(std::move(made), "our lines are missing or different", {action::EditPlugstack{true}});
}

// Steps that are about containers.
void add_container_steps(const Sources& from, Plan& plan) {
    plan.push_back(slurm_step(from));
    const bool ours = from.facts.site_pyxis.empty();
    // First of all what keeps a wrong library from being loaded.
    if (ours) plan.push_back(withdraw_step(from));
    plan.push_back(download_step(from));
    plan.push_back(enroot_step(from));
    if (from.facts.gpu) {
        plan.push_back(nvidia_repository_step(from));
        plan.push_back(nvidia_packages_step(from));
    }
    plan.push_back(paths_step(from));
    plan.push_back(files_step(from));
    if (ours) {
        plan.push_back(tools_step(from));
        plan.push_back(pyxis_step(from));
    }
    plan.push_back(proof_step(from));
    plan.push_back(plugstack_step(from));
}

}  // namespace

const Step* next_step(const Plan& plan) {
    for (const Step& each : plan) {
        if (!each.done && !each.advisory) return &each;
    }
    return nullptr;
}

Value value_of(const Plan& plan) {
    Value list(Value::Array{});
    for (const Step& each : plan) {
        Value entry(Value::Object{});
        entry.set("name", each.name).set("title", each.title).set("done", each.done);
        entry.set("finding", each.finding).set("undo", each.undo);
        entry.set("possible", each.done || !each.apply.empty());
        list.add(entry);
    }
    return list;
}

Result<Plan> plan_machine(const ResolvedSettings& settings, const Releases& releases, const SetupFacts& facts,
                          Conduct conduct) {
    const std::string& machine = facts.machine.machine;
    const bool containers = settings.wants_containers_on(machine);
    const ClusterSteps cluster = plan_cluster(settings, facts);
    Plan logins;
    add_login_steps(logins, settings, facts);
    const bool more = !cluster.before.empty() || !cluster.after.empty() || !logins.empty();
    if (!settings.wants_setup_on(machine) && !more) return Plan{};
    Sources from{settings, releases, facts, {}, {}};
    if (conduct == Conduct::observe) {
        return containers && facts.machine.enroot ? Plan{proof_step(from)} : Plan{};
    }
    if (!facts.platform) return facts.platform.error();
    from.platform = facts.platform.value();
    Plan plan{repair_step(from)};
    plan.insert(plan.end(), cluster.before.begin(), cluster.before.end());
    // Containers need the shared path.
    add_storage_steps(plan, settings, facts);
    if (containers) {
        const Result<std::vector<PinnedFile>> packages = enroot_packages(releases, from.platform);
        if (!packages) return packages.error();
        from.enroot_files = packages.value();
        add_container_steps(from, plan);
    }
    add_users_steps(plan, settings, facts);
    // Once slurmd runs: the module lets everybody in where none ever did.
    plan.insert(plan.end(), logins.begin(), logins.end());
    plan.insert(plan.end(), cluster.after.begin(), cluster.after.end());
    return plan;
}

}  // namespace llmgw
