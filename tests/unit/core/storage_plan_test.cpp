#include "core/storage_plan.hpp"

#include <gtest/gtest.h>

#include "core/plan_users.hpp"
#include "core/settings_resolve.hpp"

namespace llmgw {
namespace {

ResolvedSettings settings(const std::string& nfs, const std::string& server) {
    Settings settings;
    settings.enabled = true;
    settings.controller = "ctl";
    settings.nodes = {"n1", "n2"};
    settings.shared = {"/shared", nfs, server};
    return resolve_settings(settings, {});
}

std::string content_of(const std::vector<MachineFile>& files, const std::string& path) {
    for (const MachineFile& file : files) {
        if (file.path == path) return file.content;
    }
    return "";
}

TEST(StoragePlan, each_machine_has_its_role) {
    EXPECT_EQ(storage_role(settings("nas:/x", ""), "ctl"), StorageRole::mounts);
    EXPECT_EQ(storage_role(settings("nas:/x", ""), "other"), StorageRole::none);
    EXPECT_EQ(storage_role(settings("", "n1"), "n1"), StorageRole::exports);
    EXPECT_EQ(storage_role(settings("", "n1"), "n2"), StorageRole::mounts);
    EXPECT_EQ(storage_role(settings("", ""), "n2"), StorageRole::looks);
    EXPECT_EQ(storage_role(ResolvedSettings{}, "ctl"), StorageRole::none);
}

TEST(StoragePlan, names_units_as_systemd_does) {
    EXPECT_EQ(mount_unit_name("/shared"), "shared.mount");
    EXPECT_EQ(mount_unit_name("/data/home_1.x"), "data-home_1.x.mount");
    EXPECT_EQ(mount_unit_name("/data/a-b"), "data-a\\x2db.mount");
}

TEST(StoragePlan, mounts_without_holding_up_the_boot_and_before_slurmd) {
    const std::vector<MachineFile> files = storage_files(settings("nas:/x", ""), "n1", "", true);
    ASSERT_EQ(files.size(), 2U);
    const std::string unit = content_of(files, "/etc/systemd/system/shared.mount");
    EXPECT_NE(
        unit.find("What=nas:/x\nWhere=/shared\nType=nfs\nOptions=rw,hard,nosuid,nodev,nofail,_netdev\n"),
        std::string::npos);
    EXPECT_EQ(unit.find("RequiredBy"), std::string::npos);
    const std::string slurmd = content_of(files, "/etc/systemd/system/slurmd.service.d/50-llmgw-shared.conf");
    EXPECT_NE(slurmd.find("After=shared.mount"), std::string::npos);
    EXPECT_NE(slurmd.find("ExecStartPre=/usr/bin/mountpoint -q /shared\n"), std::string::npos);
    EXPECT_EQ(slurmd.find("Requires"), std::string::npos);
    EXPECT_EQ(storage_files(settings("nas:/x", ""), "ctl", "", false).size(), 1U);
}

TEST(StoragePlan, exports_to_the_clusters_machines_only) {
    const std::vector<MachineFile> files = storage_files(settings("", "n1"), "n1", "", true);
    ASSERT_EQ(files.size(), 1U);
    EXPECT_NE(files[0].content.find("\n/shared ctl(rw,sync,no_subtree_check,root_squash) "
                                    "n2(rw,sync,no_subtree_check,root_squash)\n"),
              std::string::npos);
    EXPECT_EQ(files[0].content.find("*"), std::string::npos);
}

TEST(StoragePlan, waits_for_what_the_site_mounts) {
    const std::vector<MachineFile> files = storage_files(settings("", ""), "n1", "/", true);
    ASSERT_EQ(files.size(), 1U);
    EXPECT_NE(files[0].content.find("After=remote-fs.target"), std::string::npos);
    // Where it is mounted is not known before it was seen.
    EXPECT_TRUE(storage_files(settings("", ""), "n1", "", true).empty());
}

std::string problem(const ResolvedSettings& settings, const std::string& machine, SharedState state,
                    const std::string& source = "") {
    SharedPath path;
    path.state = state;
    path.source = source;
    return shared_problem(settings, machine, path);
}

TEST(StoragePlan, says_what_is_wrong_with_the_path) {
    const ResolvedSettings nfs = settings("nas:/x", "");
    EXPECT_EQ(problem(nfs, "n1", SharedState::there, "nas:/x"), "");
    EXPECT_NE(problem(nfs, "n1", SharedState::there, "old:/x").find("\"old:/x\" is mounted there"),
              std::string::npos);
    EXPECT_NE(problem(nfs, "n1", SharedState::directory).find("nothing is mounted there; nas:/x is missing"),
              std::string::npos);
    EXPECT_NE(problem(nfs, "n1", SharedState::missing), "");
    EXPECT_NE(problem(nfs, "n1", SharedState::unknown), "");
    EXPECT_NE(problem(nfs, "n1", SharedState::unanswering, "nas:/x").find("does not answer"),
              std::string::npos);
    const ResolvedSettings server = settings("", "n1");
    EXPECT_EQ(problem(server, "n1", SharedState::directory), "");
    EXPECT_EQ(problem(server, "n1", SharedState::there, "/dev/sdb1"), "");
    EXPECT_NE(problem(server, "n1", SharedState::missing), "");
    const ResolvedSettings site = settings("", "");
    EXPECT_EQ(problem(site, "n1", SharedState::there, "anything"), "");
    EXPECT_NE(problem(site, "n1", SharedState::directory).find("what the site mounts"), std::string::npos);
}

class StorageSteps : public testing::Test {
  protected:
    StorageSteps() {
        facts_.platform = Platform{Family::deb, Architecture::amd64};
        facts_.storage.machine = "n1";
        facts_.storage.slurmd = true;
    }
    Plan plan() {
        Plan plan;
        add_storage_steps(plan, settings_, facts_);
        return plan;
    }
    void write_files() {
        for (const MachineFile& file :
             storage_files(settings_, "n1", facts_.storage.path.point, facts_.storage.slurmd)) {
            facts_.storage.files[file.path] = file;
        }
    }

    ResolvedSettings settings_ = settings("nas:/x", "");
    SetupFacts facts_;
};

TEST_F(StorageSteps, come_one_after_the_other) {
    ASSERT_EQ(plan().size(), 3U);
    EXPECT_EQ(next_step(plan())->apply, (std::vector<Action>{action::InstallPackages{{}, {"nfs-common"}}}));
    facts_.storage.client = true;
    EXPECT_EQ(next_step(plan())->name, "shared-files");
    write_files();
    facts_.storage.path.state = SharedState::missing;
    EXPECT_EQ(next_step(plan())->apply, (std::vector<Action>{action::MountShared{"/shared"}}));
    facts_.storage.path = {SharedState::there, true, "nas:/x", "/shared"};
    EXPECT_EQ(next_step(plan())->finding, "it is not mounted at boot");
    facts_.storage.enabled = true;
    EXPECT_EQ(next_step(plan()), nullptr);
}

TEST_F(StorageSteps, never_hide_files_and_never_fight_what_is_mounted) {
    facts_.storage.client = true;
    write_files();
    facts_.storage.path.state = SharedState::directory;
    facts_.storage.path.empty = false;
    EXPECT_TRUE(next_step(plan())->apply.empty());
    EXPECT_NE(next_step(plan())->finding.find("has files in it"), std::string::npos);
    for (const SharedState state : {SharedState::unanswering, SharedState::unknown}) {
        facts_.storage.path.state = state;
        EXPECT_TRUE(next_step(plan())->apply.empty());
    }
    facts_.storage.path = {SharedState::there, true, "old:/x", "/shared"};
    EXPECT_TRUE(next_step(plan())->apply.empty());
}

TEST_F(StorageSteps, of_the_server) {
    settings_ = settings("", "n1");
    EXPECT_EQ(next_step(plan())->apply,
              (std::vector<Action>{action::InstallPackages{{}, {"nfs-kernel-server"}}}));
    facts_.platform = Platform{Family::rpm, Architecture::amd64};
    EXPECT_EQ(next_step(plan())->apply, (std::vector<Action>{action::InstallPackages{{}, {"nfs-utils"}}}));
    facts_.storage.server = true;
    write_files();
    facts_.storage.path.state = SharedState::directory;
    facts_.storage.path.empty = false;
    EXPECT_EQ(next_step(plan())->apply, (std::vector<Action>{action::ExportShared{"/shared"}}));
    facts_.storage.exported = true;
    EXPECT_EQ(next_step(plan()), nullptr);
}

TEST_F(StorageSteps, a_server_that_does_not_know_the_machines_exports_nothing) {
    settings_ = settings("", "n1");
    facts_.storage.server = true;
    write_files();
    facts_.storage.path.state = SharedState::directory;
    settings_.all_nodes = true;
    EXPECT_TRUE(next_step(plan())->apply.empty());
    EXPECT_NE(next_step(plan())->finding.find("make ctl shared.server"), std::string::npos);
    settings_.controller = "n1";
    EXPECT_FALSE(next_step(plan())->apply.empty());
}

TEST_F(StorageSteps, only_look_at_what_the_site_mounts) {
    settings_ = settings("", "");
    facts_.storage.path.state = SharedState::directory;
    EXPECT_TRUE(next_step(plan())->apply.empty());
    facts_.storage.path = {SharedState::there, false, "lustre", "/shared"};
    write_files();
    EXPECT_EQ(next_step(plan()), nullptr);
}

TEST_F(StorageSteps, take_back_what_other_settings_left) {
    settings_ = {};
    EXPECT_TRUE(plan().empty());
    facts_.storage.unwanted = {"/etc/systemd/system/old.mount"};
    EXPECT_EQ(next_step(plan())->apply,
              (std::vector<Action>{action::WriteSharedFiles{{}, {"/etc/systemd/system/old.mount"}}}));
}

class UsersSteps : public testing::Test {
  protected:
    UsersSteps() {
        settings_.enabled = true;
        settings_.controller = "ctl";
        settings_.users = Users::llmgw;
        facts_.machine.machine = "ctl";
        facts_.users = UsersPlan{};
    }
    Plan plan() {
        Plan plan;
        add_users_steps(plan, settings_, facts_);
        return plan;
    }
    ResolvedSettings settings_;
    SetupFacts facts_;
};

TEST_F(UsersSteps, are_there_only_where_users_are_llmgws) {
    EXPECT_EQ(plan().size(), 2U);
    EXPECT_EQ(next_step(plan()), nullptr);
    settings_.users = Users::site;
    EXPECT_TRUE(plan().empty());
    settings_.users = Users::llmgw;
    facts_.machine.machine = "other";
    EXPECT_TRUE(plan().empty());
}

TEST_F(UsersSteps, make_users_and_then_let_sshd_read_their_keys) {
    UsersPlan users;
    users.changes.push_back({UserChange::Kind::create, "ann", 200000, "ann@x", "/home/ann"});
    facts_.users = users;
    EXPECT_EQ(next_step(plan())->finding, "users: 1 to make");
    EXPECT_EQ(next_step(plan())->apply, (std::vector<Action>{action::ApplyUsers{settings_}}));
    facts_.users = UsersPlan{};
    facts_.ssh.installed = true;
    facts_.ssh.wanted = {"/d", "x", 0644};
    EXPECT_EQ(next_step(plan())->apply, (std::vector<Action>{action::WriteSshdDropIn{{"/d", "x", 0644}}}));
    facts_.ssh.there = facts_.ssh.wanted;
    EXPECT_EQ(next_step(plan()), nullptr);
    facts_.ssh.problem = "another file sets it";
    EXPECT_TRUE(next_step(plan())->apply.empty());
}

TEST_F(UsersSteps, say_that_the_accounts_did_not_come_yet) {
    facts_.users = Error{Code::unavailable, "there are no accounts"};
    EXPECT_EQ(next_step(plan())->finding, "there are no accounts");
}

}  // namespace
}  // namespace llmgw
