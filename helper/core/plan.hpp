// What makes a machine ready, as a plan: an ordered list of steps, computed from the settings, the releases
// and what was found on the machine. Pure and comparable; service/setup.hpp gathers the facts and does what
// the steps say. After each step the facts are gathered and the plan is made anew, so a step is done when its
// check says so, not because it was run.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/cluster_facts.hpp"
#include "core/login_lines.hpp"
#include "core/machine_check.hpp"
#include "core/machine_files.hpp"
#include "core/releases.hpp"
#include "core/result.hpp"
#include "core/settings.hpp"
#include "core/slurm_config.hpp"
#include "core/storage_plan.hpp"
#include "core/users_plan.hpp"
#include "core/value.hpp"

namespace llmgw {

namespace action {

struct RepairPackages {
    bool operator==(const RepairPackages&) const = default;
};
struct Fetch {
    std::vector<PinnedFile> files;
    bool operator==(const Fetch&) const = default;
};
// One transaction.
struct InstallPackages {
    std::vector<PinnedFile> files;   // from the cache
    std::vector<std::string> names;  // from the machine's repositories
    bool operator==(const InstallPackages&) const = default;
};
struct AddNvidiaRepository {
    bool operator==(const AddNvidiaRepository&) const = default;
};
struct InstallNvidiaPackages {
    bool operator==(const InstallNvidiaPackages&) const = default;
};
struct WriteFiles {
    std::vector<MachineFile> files;
    bool operator==(const WriteFiles&) const = default;
};
// Ours that are not wanted any more.
struct RemoveFiles {
    std::vector<std::string> paths;
    bool operator==(const RemoveFiles&) const = default;
};
struct ApplyTmpfiles {
    std::string path;
    bool operator==(const ApplyTmpfiles&) const = default;
};
struct BuildPyxis {
    bool operator==(const BuildPyxis&) const = default;
};
struct Prove {
    bool operator==(const Prove&) const = default;
};
// Our lines in plugstack.conf, with pyxis's or without.
struct EditPlugstack {
    bool with_pyxis = false;
    bool operator==(const EditPlugstack&) const = default;
};
// From here on Slurm on this machine is ours to run, and to take back.
struct ClaimCluster {
    bool operator==(const ClaimCluster&) const = default;
};
struct ReloadUnits {
    bool operator==(const ReloadUnits&) const = default;
};
struct PutMungeKey {
    bool operator==(const PutMungeKey&) const = default;
};
// A slurmctld of its own, elsewhere, must start with it.
struct TrySlurmConfig {
    SlurmConfig config;
    bool operator==(const TrySlurmConfig&) const = default;
};
// Now and at every boot.
struct StartUnit {
    std::string unit;
    bool restart = false;
    bool operator==(const StartUnit&) const = default;
};
struct StopUnit {
    std::string unit;
    bool operator==(const StopUnit&) const = default;
};
struct TellSlurm {
    bool restart = false;  // of slurmctld, before the others are told
    std::string told;      // SlurmConfig::text()
    bool operator==(const TellSlurm&) const = default;
};
struct DrainNodes {
    std::vector<std::string> nodes;  // with our reason
    bool operator==(const DrainNodes&) const = default;
};

// Users of llmgw's accounts, as the settings say where their homes are.
struct ApplyUsers {
    ResolvedSettings settings;
    bool operator==(const ApplyUsers&) const = default;
};
// Counts only if sshd takes it.
struct WriteSshdDropIn {
    MachineFile file;
    bool operator==(const WriteSshdDropIn&) const = default;
};
struct WriteSharedFiles {
    std::vector<MachineFile> files;
    std::vector<std::string> unwanted;
    bool operator==(const WriteSharedFiles&) const = default;
};
struct MountShared {
    std::string path;
    bool operator==(const MountShared&) const = default;
};
struct ExportShared {
    std::string path;
    bool operator==(const ExportShared&) const = default;
};
// Our lines in sshd's PAM files; counts only if logins show that they hold.
struct GuardLogins {
    bool operator==(const GuardLogins&) const = default;
};
struct LeaveLogins {
    bool operator==(const LeaveLogins&) const = default;
};

}  // namespace action

using Action =
    std::variant<action::RepairPackages, action::Fetch, action::InstallPackages, action::AddNvidiaRepository,
                 action::InstallNvidiaPackages, action::WriteFiles, action::RemoveFiles,
                 action::ApplyTmpfiles, action::BuildPyxis, action::Prove, action::EditPlugstack,
                 action::ClaimCluster, action::ReloadUnits, action::PutMungeKey, action::TrySlurmConfig,
                 action::StartUnit, action::StopUnit, action::TellSlurm, action::DrainNodes,
                 action::ApplyUsers, action::WriteSshdDropIn, action::WriteSharedFiles, action::MountShared,
                 action::ExportShared, action::GuardLogins, action::LeaveLogins>;

struct Step {
    std::string name;     // "enroot-packages": stable, for programs
    std::string title;    // "install enroot 4.2.1": for people, what it does
    bool done = false;    // the check
    std::string finding;  // what the check found: "enroot 4.2.1 is installed", "enroot is not installed"
    // Empty although not done: nothing that we do helps, the finding says what would.
    std::vector<Action> apply;
    std::string undo;  // what uninstall does about it, for people; empty: nothing
    // Not done, and others have to act: it says so, and the steps behind it go on.
    bool advisory = false;

    bool operator==(const Step&) const = default;
};

using Plan = std::vector<Step>;

// The first that is not done and is ours to do; null: the machine is as it should be.
const Step* next_step(const Plan& plan);
Value value_of(const Plan& plan);

// How far we may go on this machine.
enum class Conduct {
    manage,   // makes it ready
    observe,  // only looks, and proves that what others installed works
};

struct PackageFacts {
    std::map<std::string, std::string> versions;  // of all that are installed
    std::vector<std::string> broken;              // "enroot (half-configured)"

    bool operator==(const PackageFacts&) const = default;
};

struct SshFacts {
    bool installed = false;
    MachineFile wanted;                // the drop-in
    std::optional<MachineFile> there;  // what is in its place
    std::string problem;               // why it is without effect although it is there
};

// Whom sshd lets in (core/login_lines.hpp).
struct LoginFacts {
    LoginRule rule = LoginRule::job;
    bool sshd = false;    // is installed
    bool client = false;  // ssh is, with which the lines are tried
    bool module = false;  // pam_llmgw_adopt.so is there
    bool added = false;   // our lines are among sshd's, as the rule has them
    bool any = false;     // some line of our module is
    bool ours = false;    // we added them, or began to
    bool proven = false;  // as they are now, logins showed that they hold
    std::string other;    // another module of that kind, and where
    std::string failure;  // why the lines were taken back some minutes ago
};

struct SetupFacts {
    MachineFacts machine;
    Result<Platform> platform = Error{};
    Result<PackageFacts> packages = Error{};
    std::set<std::string> cached;  // digests of pinned files that are in the cache and right
    // Programs and headers to build pyxis with: what to install for those that are missing or of another
    // Slurm, and why.
    std::vector<std::string> build_packages;
    std::string build_problem;
    // pyxis's library where we put it, whether plugstack.conf names it or not.
    Result<PluginFacts> library = Error{};
    bool gpu = false;
    Result<bool> nvidia_repository = false;
    Result<bool> nvidia_packages = false;
    // The files that this machine is to have, and what is in their places.
    Result<std::vector<MachineFile>> wanted_files = std::vector<MachineFile>{};
    std::map<std::string, std::optional<MachineFile>> files;
    std::vector<std::string> unwanted_files;       // of ours, from other settings
    std::vector<std::string> missing_directories;  // of those that a tmpfiles entry of ours makes
    std::string unfit_path;  // the first directory that containers can't live in, and why
    // Whether plugstack.conf has our lines as they should be.
    Result<bool> plugstack_right = Error{};
    bool our_pyxis_named = false;
    // Where the admin's own pyxis stands in plugstack.conf ("FILE:LINE"): we neither build nor name one.
    // Empty: nowhere.
    std::string site_pyxis;
    // What llmgw's accounts mean here; an error while they did not come yet.
    Result<UsersPlan> users = Error{};
    SshFacts ssh;
    LoginFacts login;
    StorageFacts storage;
    // Slurm itself; nothing: not looked at.
    std::optional<ClusterFacts> cluster;
};

// Errors (invalid): the machine's family or architecture is not in the releases, before anything was done.
Result<Plan> plan_machine(const ResolvedSettings& settings, const Releases& releases, const SetupFacts& facts,
                          Conduct conduct);

}  // namespace llmgw
