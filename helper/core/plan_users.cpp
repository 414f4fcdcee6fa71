#include "core/plan_users.hpp"

#include <utility>

#include "core/plan_steps.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

Step packages_step(const SetupFacts& facts, StorageRole role) {
    const bool exports = role == StorageRole::exports;
    Step made = step("nfs-packages", exports ? "install NFS's server" : "install NFS's client",
                     "removes it, where we installed it");
    if (exports ? facts.storage.server : facts.storage.client)
        return is_done(std::move(made), "it is installed");
    if (!facts.platform) return is_missing(std::move(made), facts.platform.error().message, {});
    const bool deb = facts.platform.value().family == Family::deb;
    const std::string name = !deb ? "nfs-utils" : exports ? "nfs-kernel-server" : "nfs-common";
    return is_missing(std::move(made), name + " is not installed", {action::InstallPackages{{}, {name}}});
}

Step files_step(const ResolvedSettings& settings, const StorageFacts& facts) {
    Step made = step("shared-files", "write what mounts or exports the shared path", "removes it");
    std::vector<MachineFile> different;
    std::vector<std::string> names;
    for (const MachineFile& file : storage_files(settings, facts.machine, facts.path.point, facts.slurmd)) {
        const auto there = facts.files.find(file.path);
        if (there != facts.files.end() && there->second == file) continue;
        names.push_back(file.path);
        different.push_back(file);
    }
    names.insert(names.end(), facts.unwanted.begin(), facts.unwanted.end());
    if (names.empty()) return is_done(std::move(made), "it is as it should be");
    return is_missing(std::move(made), "missing, different or not wanted any more: " + join(names, ", "),
                      {action::WriteSharedFiles{std::move(different), facts.unwanted}});
}

Step mount_step(const ResolvedSettings& settings, const StorageFacts& facts) {
    Step made = step("shared-mount", "mount " + settings.shared_path, "unmounts it");
    const SharedPath& path = facts.path;
    const std::string problem = shared_problem(settings, facts.machine, path);
    if (problem.empty() && facts.enabled)
        return is_done(std::move(made), path.source + " is mounted, and answers");
    if (path.state == SharedState::directory && !path.empty) {
        return is_missing(std::move(made),
                          settings.shared_path + " has files in it, which a mount would hide: move them away",
                          {});
    }
    const bool can_help =
        problem.empty() || path.state == SharedState::missing || path.state == SharedState::directory;
    if (!can_help) return is_missing(std::move(made), problem, {});
    return is_missing(std::move(made), problem.empty() ? "it is not mounted at boot" : problem,
                      {action::MountShared{settings.shared_path}});
}

Step export_step(const ResolvedSettings& settings, const StorageFacts& facts) {
    Step made = step("shared-export", "export " + settings.shared_path, "ends that; the files stay");
    const std::string problem = shared_problem(settings, facts.machine, facts.path);
    if (facts.path.state == SharedState::unanswering) return is_missing(std::move(made), problem, {});
    if (settings.all_nodes && facts.machine != settings.controller) {
        return is_missing(
            std::move(made),
            "under all_nodes only the controller knows all machines, so that only it can export to "
            "them: make " +
                settings.controller + " shared.server, or name the nodes",
            {});
    }
    if (problem.empty() && facts.exported)
        return is_done(std::move(made), "the cluster's machines may mount it");
    return is_missing(std::move(made), problem.empty() ? "it is not exported" : problem,
                      {action::ExportShared{settings.shared_path}});
}

Step look_step(const ResolvedSettings& settings, const StorageFacts& facts) {
    Step made = step("shared-path", "look at " + settings.shared_path, "");
    std::string problem = shared_problem(settings, facts.machine, facts.path);
    if (problem.empty()) return is_done(std::move(made), facts.path.source + " is mounted, and answers");
    return is_missing(std::move(made), std::move(problem), {});
}

Step ssh_step(const SetupFacts& facts) {
    Step made = step("ssh-keys", "let sshd read the accounts' keys", "removes the drop-in and the keys");
    const SshFacts& ssh = facts.ssh;
    if (!ssh.installed) return is_done(std::move(made), "sshd is not installed");
    if (!ssh.problem.empty()) return is_missing(std::move(made), ssh.problem, {});
    if (ssh.there == ssh.wanted) return is_done(std::move(made), ssh.wanted.path + " is as it should be");
    return is_missing(std::move(made), ssh.wanted.path + " is missing or different",
                      {action::WriteSshdDropIn{ssh.wanted}});
}

Step users_step(const ResolvedSettings& settings, const SetupFacts& facts) {
    Step made =
        step("users", "make the accounts' users",
             "removes the users that we made; their homes stay, and their numbers are never given again");
    if (!facts.users) return is_missing(std::move(made), facts.users.error().message, {});
    const UsersPlan& users = facts.users.value();
    if (users.nothing_to_do()) return is_done(std::move(made), summary_of(users));
    return is_missing(std::move(made), summary_of(users), {action::ApplyUsers{settings}});
}

}  // namespace

void add_storage_steps(Plan& plan, const ResolvedSettings& settings, const SetupFacts& facts) {
    const StorageRole role = storage_role(settings, facts.storage.machine);
    // What other settings left is taken back also where there is no shared path any more.
    if (role == StorageRole::none && facts.storage.unwanted.empty()) return;
    if (role == StorageRole::mounts || role == StorageRole::exports)
        plan.push_back(packages_step(facts, role));
    plan.push_back(files_step(settings, facts.storage));
    if (role == StorageRole::mounts) plan.push_back(mount_step(settings, facts.storage));
    if (role == StorageRole::exports) plan.push_back(export_step(settings, facts.storage));
    if (role == StorageRole::looks) plan.push_back(look_step(settings, facts.storage));
}

void add_users_steps(Plan& plan, const ResolvedSettings& settings, const SetupFacts& facts) {
    if (!settings.wants_users_on(facts.machine.machine)) return;
    plan.push_back(users_step(settings, facts));
    plan.push_back(ssh_step(facts));
}

}  // namespace llmgw
