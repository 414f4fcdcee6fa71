#include "core/plan_login.hpp"

#include <gtest/gtest.h>

#include "core/login_lines.hpp"
#include "posix/file.hpp"

namespace llmgw {
namespace {

ResolvedSettings settings() {
    ResolvedSettings resolved;
    resolved.enabled = true;
    resolved.controller = "ctl";
    resolved.slurm_nodes = {"n1", "ctl"};
    return resolved;
}

// A node of ours on which users get in as ever.
SetupFacts node() {
    SetupFacts facts;
    facts.machine.machine = "n1";
    facts.platform = Platform{Family::deb, Architecture::amd64};
    facts.cluster.emplace();
    facts.cluster->ours = true;
    facts.login.sshd = facts.login.client = facts.login.module = true;
    return facts;
}

Plan planned(const SetupFacts& facts, const ResolvedSettings& resolved = settings()) {
    Plan plan;
    add_login_steps(plan, resolved, facts);
    return plan;
}

Step only_step(const SetupFacts& facts, const ResolvedSettings& resolved = settings()) {
    const Plan plan = planned(facts, resolved);
    EXPECT_EQ(plan.size(), 1U);
    return plan.empty() ? Step{} : plan.front();
}

const std::vector<Action> guard{action::GuardLogins{}};
const std::vector<Action> leave{action::LeaveLogins{}};

TEST(PlanLogin, guards_a_node_of_ours_until_it_is_shown) {
    SetupFacts facts = node();
    EXPECT_EQ(only_step(facts).apply, guard);
    facts.login.ours = facts.login.any = facts.login.added = true;
    Step step = only_step(facts);
    EXPECT_EQ(step.apply, guard);
    EXPECT_NE(step.finding.find("changed since they were tried"), std::string::npos) << step.finding;
    facts.login.proven = true;
    EXPECT_TRUE(only_step(facts).done);
}

TEST(PlanLogin, has_nothing_to_do_where_it_is_no_node_of_ours) {
    SetupFacts facts = node();
    facts.cluster.reset();
    EXPECT_TRUE(planned(facts).empty());
    facts = node();
    facts.cluster->ours = false;
    EXPECT_TRUE(planned(facts).empty());
    facts = node();
    facts.cluster->site = "it has a slurm.conf";
    EXPECT_TRUE(planned(facts).empty());
    facts = node();
    facts.machine.machine = "ctl";
    EXPECT_TRUE(planned(facts).empty());
    facts.machine.machine = "elsewhere";
    EXPECT_TRUE(planned(facts).empty());
    facts = node();
    facts.login.rule = LoginRule::site;
    EXPECT_TRUE(planned(facts).empty());
}

TEST(PlanLogin, takes_back_what_is_not_wanted_any_more) {
    SetupFacts facts = node();
    facts.login.ours = facts.login.any = facts.login.added = facts.login.proven = true;
    ResolvedSettings off = settings();
    off.enabled = false;
    EXPECT_TRUE(planned(facts, off).empty());
    ResolvedSettings without = settings();
    without.slurm_nodes = {"ctl"};
    EXPECT_EQ(only_step(facts, without).apply, leave);
    facts.login.rule = LoginRule::site;
    EXPECT_EQ(only_step(facts).apply, leave);
}

TEST(PlanLogin, leaves_rules_of_others_alone) {
    SetupFacts facts = node();
    facts.login.other = "pam_slurm_adopt.so in sshd:12";
    Step step = only_step(facts);
    EXPECT_TRUE(step.apply.empty());
    EXPECT_TRUE(step.advisory);
    EXPECT_NE(step.finding.find("sshd:12"), std::string::npos);
    facts = node();
    facts.login.any = true;
    EXPECT_TRUE(only_step(facts).advisory);
}

TEST(PlanLogin, says_what_failed_and_waits) {
    SetupFacts facts = node();
    facts.login.ours = true;
    facts.login.failure = "root was not let in: Connection closed";
    const Step step = only_step(facts);
    EXPECT_FALSE(step.done);
    EXPECT_TRUE(step.advisory);
    EXPECT_TRUE(step.apply.empty());
    EXPECT_NE(step.finding.find("root was not let in"), std::string::npos);
}

TEST(PlanLogin, needs_the_module_and_ssh) {
    SetupFacts facts = node();
    facts.login.module = false;
    EXPECT_TRUE(only_step(facts).apply.empty());
    facts = node();
    facts.login.client = false;
    EXPECT_EQ(only_step(facts).apply, (std::vector<Action>{action::InstallPackages{{}, {"openssh-client"}}}));
    facts = node();
    facts.login.sshd = false;
    EXPECT_TRUE(only_step(facts).done);
}

std::vector<PamLine> lines_of(const std::string& text) {
    return pam_lines([&](const std::string&) { return std::optional<std::string>(text); }, "sshd");
}

TEST(LoginLines, are_found_where_they_are_whole) {
    const std::string block = login_block(LoginRule::job);
    EXPECT_TRUE(has_login_lines(lines_of(block), LoginRule::job));
    EXPECT_FALSE(has_login_lines(lines_of(block), LoginRule::container));
    EXPECT_TRUE(has_login_lines(lines_of(login_block(LoginRule::container)), LoginRule::container));
    EXPECT_FALSE(has_login_lines(lines_of("account required pam_llmgw_adopt.so\n"), LoginRule::job));
    EXPECT_TRUE(has_any_login_line(lines_of("account required /x/pam_llmgw_adopt.so\n")));
    EXPECT_EQ(other_login_module(lines_of("\naccount required pam_slurm_adopt.so\n")),
              "pam_slurm_adopt.so in sshd:2");
}

// What pam-auth-update adds is what the block has.
TEST(LoginLines, are_the_same_in_the_profiles) {
    for (const auto& [name, rule] :
         {std::pair{"llmgw-slurm", LoginRule::job}, {"llmgw-slurm-container", LoginRule::container}}) {
        const Result<std::string> profile =
            read_file(std::string(LLMGW_SOURCE_DIR) + "/conf/pam-configs/" + name, 4096);
        ASSERT_TRUE(profile.ok()) << profile.error().message;
        std::string type;
        std::string text;
        std::size_t begin = 0;
        while (begin < profile.value().size()) {
            const std::size_t end = profile.value().find('\n', begin);
            const std::string line = profile.value().substr(begin, end - begin);
            begin = end + 1;
            if (line == "Auth:") type = "auth";
            if (line == "Account:") type = "account";
            if (line == "Session:") type = "session";
            if (line.front() == '\t') text += type + line + "\n";
        }
        EXPECT_EQ(text_of(lines_of(text)), text_of(lines_of(login_block(rule)))) << name;
    }
}

}  // namespace
}  // namespace llmgw
