#include "core/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace llmgw {
namespace {

const std::string enroot_digest(64, 'a');
const std::string caps_digest(64, 'b');
const std::string pyxis_digest(64, 'c');
constexpr const char* settings_path = "/etc/enroot/enroot.conf.d/50-llmgw.conf";

Releases releases() {
    Releases wanted;
    wanted.enroot.version = "4.2.1";
    wanted.enroot.packages[{Family::deb, Architecture::amd64}] = {
        {"enroot_4.2.1-1_amd64.deb", "https://x/enroot_4.2.1-1_amd64.deb", enroot_digest},
        {"enroot+caps_4.2.1-1_amd64.deb", "https://x/enroot%2Bcaps_4.2.1-1_amd64.deb", caps_digest}};
    wanted.pyxis = {"0.24.0", {"pyxis-0.24.0.tar.gz", "https://x/v0.24.0.tar.gz", pyxis_digest}};
    wanted.nvidia.package = "libnvidia-container-tools";
    return wanted;
}

ResolvedSettings settings() {
    ResolvedSettings resolved;
    resolved.enabled = true;
    resolved.controller = "ctl";
    resolved.slurm_nodes = {"n1"};
    resolved.containers = true;
    return resolved;
}

// Slurm alone.
SetupFacts bare() {
    SetupFacts facts;
    facts.machine.machine = "n1";
    facts.machine.slurm = std::string("22.05.8");
    facts.machine.enroot_file = Error{Code::missing, "/usr/bin/enroot is not there"};
    facts.platform = Platform{Family::deb, Architecture::amd64};
    facts.packages = PackageFacts{};
    facts.build_problem = "gcc is not installed";
    facts.build_packages = {"gcc", "make", "libslurm-dev"};
    facts.library = Error{Code::missing, "/usr/local/lib/slurm/spank_pyxis.so is not there"};
    facts.wanted_files = std::vector<MachineFile>{
        {settings_path, "ours\n", 0644}, {"/etc/tmpfiles.d/llmgw-enroot.conf", "d /run/enroot\n", 0644}};
    facts.missing_directories = {"/run/enroot"};
    facts.plugstack_right = false;
    return facts;
}

Plan planned(const SetupFacts& facts, Conduct conduct = Conduct::manage) {
    Result<Plan> plan = plan_machine(settings(), releases(), facts, conduct);
    EXPECT_TRUE(plan.ok()) << plan.error().message;
    return plan ? std::move(plan).value() : Plan{};
}

std::vector<std::string> open_steps(const Plan& plan) {
    std::vector<std::string> names;
    for (const Step& step : plan) {
        if (!step.done) names.push_back(step.name);
    }
    return names;
}

const Step& step_of(const Plan& plan, const std::string& name) {
    static const Step none;
    for (const Step& step : plan) {
        if (step.name == name) return step;
    }
    ADD_FAILURE() << "no step " << name;
    return none;
}

// What each step's success changes in what is found.
const std::vector<std::pair<std::string, std::function<void(SetupFacts&)>>> successes{
    {"download",
     [](SetupFacts& facts) {
         facts.cached = {enroot_digest, caps_digest, pyxis_digest};
     }},
    {"enroot-packages",
     [](SetupFacts& facts) {
         facts.packages = PackageFacts{{{"enroot", "4.2.1-1"}, {"enroot+caps", "4.2.1-1"}}, {}};
         facts.machine.enroot_file = FileFacts{"/usr/bin/enroot", "1:2:3:4:5"};
         facts.machine.enroot = std::string("4.2.1");
     }},
    {"enroot-settings",
     [](SetupFacts& facts) {
         for (const MachineFile& file : facts.wanted_files.value()) facts.files[file.path] = file;
         facts.missing_directories.clear();
     }},
    {"build-tools",
     [](SetupFacts& facts) {
         facts.build_problem.clear();
         facts.build_packages.clear();
     }},
    {"pyxis",
     [](SetupFacts& facts) {
         facts.library = PluginFacts{"pyxis", "spank", 0x160508, "0.24.0"};
     }},
    {"proof", [](SetupFacts& facts) { facts.machine.proven = true; }},
    {"plugstack", [](SetupFacts& facts) {
         facts.plugstack_right = true;
         facts.our_pyxis_named = true;
     }}};

SetupFacts complete() {
    SetupFacts facts = bare();
    for (const auto& [name, change] : successes) change(facts);
    return facts;
}

TEST(Plan, says_what_is_pending_and_doubtful_although_all_is_done) {
    SetupFacts facts = complete();
    facts.machine.pending = "pending restart: slurmd";
    facts.machine.doubts = {"ENROOT_X is no setting of enroot's"};
    const Plan plan = planned(facts);
    EXPECT_EQ(next_step(plan), nullptr);
    EXPECT_EQ(plan.back().finding, "our lines are there; pending restart: slurmd");
    const auto settings = std::find_if(plan.begin(), plan.end(),
                                       [](const Step& step) { return step.name == "enroot-settings"; });
    ASSERT_NE(settings, plan.end());
    EXPECT_EQ(settings->finding, "they are as they should be; ENROOT_X is no setting of enroot's");
}

TEST(Plan, of_a_bare_machine_goes_through_its_steps_in_order) {
    SetupFacts facts = bare();
    for (const auto& [name, change] : successes) {
        const Plan plan = planned(facts);
        const Step* next = next_step(plan);
        ASSERT_NE(next, nullptr) << name;
        EXPECT_EQ(next->name, name);
        EXPECT_FALSE(next->apply.empty()) << name;
        EXPECT_FALSE(next->finding.empty()) << name;
        change(facts);
    }
    const Plan plan = planned(facts);
    EXPECT_EQ(next_step(plan), nullptr) << next_step(plan)->name << ": " << next_step(plan)->finding;
    EXPECT_EQ(plan, planned(complete()));
    for (const Step& step : plan) {
        EXPECT_TRUE(step.apply.empty()) << step.name;
        EXPECT_FALSE(step.finding.empty()) << step.name;
    }
}

TEST(Plan, downloads_what_is_needed_and_not_in_the_cache) {
    SetupFacts facts = bare();
    facts.cached = {caps_digest};
    const Step download = step_of(planned(facts), "download");
    ASSERT_EQ(download.apply.size(), 1U);
    const auto& files = std::get<action::Fetch>(download.apply[0]).files;
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].sha256, enroot_digest);
    EXPECT_EQ(files[1].sha256, pyxis_digest);
    // After a reboot, or with an empty cache, nothing that is in place is fetched again.
    facts = complete();
    facts.cached.clear();
    facts.machine.proven = false;
    EXPECT_EQ(open_steps(planned(facts)), std::vector<std::string>{"proof"});
}

TEST(Plan, installs_both_packages_in_one_transaction_whichever_is_missing) {
    for (const char* missing : {"enroot", "enroot+caps"}) {
        SetupFacts facts = complete();
        PackageFacts packages = facts.packages.value();
        packages.versions.erase(missing);
        facts.packages = packages;
        const Step step = step_of(planned(facts), "enroot-packages");
        EXPECT_EQ(step.finding, std::string(missing) + " is not installed");
        ASSERT_EQ(step.apply.size(), 1U);
        EXPECT_EQ(std::get<action::InstallPackages>(step.apply[0]).files,
                  (releases().enroot.packages[{Family::deb, Architecture::amd64}]));
    }
}

TEST(Plan, knows_a_version_by_the_whole_word) {
    SetupFacts facts = complete();
    facts.packages = PackageFacts{{{"enroot", "4.2.10-1"}, {"enroot+caps", "4.2.1-1.el8"}}, {}};
    EXPECT_EQ(step_of(planned(facts), "enroot-packages").finding, "enroot is 4.2.10-1, wanted is 4.2.1");
}

// A library for another Slurm goes out of plugstack.conf before anything else is tried.
TEST(Plan, withdraws_pyxis_first_when_slurm_is_another) {
    SetupFacts facts = complete();
    facts.machine.slurm = std::string("22.05.9");
    const Plan plan = planned(facts);
    const Step* next = next_step(plan);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->name, "pyxis-withdrawal");
    EXPECT_EQ(next->apply, (std::vector<Action>{action::EditPlugstack{false}}));
    EXPECT_EQ(next->finding, "pyxis was built for Slurm 22.05.8, this machine has 22.05.9");
    facts.our_pyxis_named = false;
    facts.plugstack_right = false;
    EXPECT_EQ(open_steps(planned(facts)), (std::vector<std::string>{"pyxis", "plugstack"}));
    facts.cached.clear();
    EXPECT_EQ(next_step(planned(facts))->name, "download");
}

TEST(Plan, finishes_what_a_package_manager_left_before_it_installs) {
    SetupFacts facts = bare();
    facts.packages = PackageFacts{{}, {"enroot (half-configured)"}};
    const Step* next = next_step(planned(facts));
    ASSERT_NE(next, nullptr);
    const Step repair = step_of(planned(facts), "package-state");
    EXPECT_EQ(repair.finding, "half installed: enroot (half-configured)");
    EXPECT_EQ(repair.apply, (std::vector<Action>{action::RepairPackages{}}));
    EXPECT_EQ(open_steps(planned(facts)).front(), "package-state");
}

TEST(Plan, brings_nvidia_things_to_machines_with_a_gpu_alone) {
    SetupFacts facts = complete();
    for (const Step& step : planned(facts)) EXPECT_FALSE(step.name.starts_with("nvidia")) << step.name;
    facts.gpu = true;
    EXPECT_EQ(open_steps(planned(facts)), (std::vector<std::string>{"nvidia-repository", "nvidia-packages"}));
    facts.nvidia_repository = true;
    facts.nvidia_packages = true;
    EXPECT_TRUE(open_steps(planned(facts)).empty());
}

TEST(Plan, stops_where_nothing_of_ours_helps) {
    SetupFacts facts = bare();
    facts.machine.slurm = Error{Code::missing, "neither slurmd, slurmctld nor srun is installed"};
    const Plan without_slurm = planned(facts);
    EXPECT_EQ(next_step(without_slurm)->finding, "Slurm: neither slurmd, slurmctld nor srun is installed");
    EXPECT_TRUE(next_step(without_slurm)->apply.empty());
    facts = complete();
    facts.unfit_path = "/var/lib/enroot/data is on nfs";
    const Plan unfit = planned(facts);
    EXPECT_EQ(next_step(unfit)->name, "container-paths");
    EXPECT_TRUE(next_step(unfit)->apply.empty());
}

TEST(Plan, leaves_a_sites_own_pyxis_alone) {
    SetupFacts facts = bare();
    facts.site_pyxis = "/etc/slurm/plugstack.conf:3";
    for (const Step& step : planned(facts)) {
        EXPECT_NE(step.name, "pyxis");
        EXPECT_NE(step.name, "build-tools");
        EXPECT_NE(step.name, "pyxis-withdrawal");
    }
    EXPECT_EQ(std::get<action::Fetch>(step_of(planned(facts), "download").apply[0]).files.size(), 2U);
}

TEST(Plan, removes_what_other_settings_left) {
    SetupFacts facts = complete();
    facts.unwanted_files = {"/etc/enroot/mounts.d/50-llmgw-shared.fstab"};
    const Step step = step_of(planned(facts), "enroot-settings");
    EXPECT_FALSE(step.done);
    EXPECT_EQ(step.apply.back(), Action(action::RemoveFiles{facts.unwanted_files}));
}

TEST(Plan, refuses_a_platform_without_releases_before_anything) {
    SetupFacts facts = bare();
    facts.platform = Platform{Family::rpm, Architecture::arm64};
    const Result<Plan> other = plan_machine(settings(), releases(), facts, Conduct::manage);
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().code, Code::invalid);
    facts.platform = Error{Code::invalid, "neither deb nor rpm"};
    EXPECT_EQ(plan_machine(settings(), releases(), facts, Conduct::manage).error().message,
              "neither deb nor rpm");
}

TEST(Plan, is_empty_where_no_containers_are_wanted) {
    const SetupFacts facts = bare();
    const auto with = [&](const std::function<void(ResolvedSettings&)>& change) {
        ResolvedSettings changed = settings();
        change(changed);
        return plan_machine(changed, releases(), facts, Conduct::manage).value();
    };
    EXPECT_TRUE(with([](ResolvedSettings& s) { s.enabled = false; }).empty());
    EXPECT_TRUE(with([](ResolvedSettings& s) { s.containers = false; }).empty());
    EXPECT_TRUE(with([](ResolvedSettings& s) { s.slurm_nodes = {"n2"}; }).empty());
    EXPECT_FALSE(with([](ResolvedSettings& s) { s.controller = "n1", s.slurm_nodes = {"n2"}; }).empty());
}

TEST(Plan, of_a_helper_that_only_looks_is_the_proof) {
    SetupFacts facts = bare();
    facts.platform = Error{Code::invalid, "of no interest"};
    EXPECT_TRUE(planned(facts, Conduct::observe).empty());
    facts.machine.enroot = std::string("4.2.1");
    EXPECT_EQ(open_steps(planned(facts, Conduct::observe)), std::vector<std::string>{"proof"});
    facts.machine.proven = true;
    EXPECT_TRUE(open_steps(planned(facts, Conduct::observe)).empty());
}

TEST(Plan, sets_slurm_up_before_containers_and_without_them) {
    SetupFacts facts = complete();
    facts.cluster.emplace();
    facts.cluster->munge_key = MungeKey::to_put;
    std::vector<std::string> names;
    for (const Step& step : planned(facts)) names.push_back(step.name);
    const std::vector<std::string> begin{"package-state", "slurm-units",   "slurm-packages",
                                         "munge-key",     "clock",         "munge",
                                         "slurmd",        "slurm-contact", "slurm"};
    ASSERT_GT(names.size(), begin.size());
    EXPECT_TRUE(std::equal(begin.begin(), begin.end(), names.begin()));
    ResolvedSettings without = settings();
    without.containers = false;
    const Result<Plan> plan = plan_machine(without, releases(), facts, Conduct::manage);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan.value().size(), begin.size() - 1);
    EXPECT_TRUE(plan_machine(without, releases(), facts, Conduct::observe).value().empty());
}

TEST(Plan, a_step_that_only_others_can_do_stops_none) {
    SetupFacts facts = bare();
    facts.machine.machine = "ctl";
    facts.cluster.emplace();
    facts.cluster->site = "somebody's";
    facts.cluster->site_conf = "ClusterName=x\n";
    const Plan plan = planned(facts);
    EXPECT_FALSE(step_of(plan, "site-slurm").done);
    ASSERT_NE(next_step(plan), nullptr);
    EXPECT_EQ(next_step(plan)->name, "download");
}

TEST(Plan, says_itself_as_json) {
    SetupFacts facts = complete();
    facts.unfit_path = "no";
    const Value value = value_of(planned(facts));
    ASSERT_NE(value.array(), nullptr);
    const Value& first = value.array()->front();
    EXPECT_EQ(*first.find("name")->text(), "package-state");
    EXPECT_TRUE(*first.find("done")->boolean());
    EXPECT_TRUE(*first.find("possible")->boolean());
    for (const Value& step : *value.array()) {
        if (*step.find("name")->text() != "container-paths") continue;
        EXPECT_FALSE(*step.find("done")->boolean());
        EXPECT_FALSE(*step.find("possible")->boolean());
        EXPECT_EQ(*step.find("finding")->text(), "no");
    }
}

}  // namespace
}  // namespace llmgw
