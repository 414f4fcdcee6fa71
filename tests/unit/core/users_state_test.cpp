#include "core/users_state.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

ResolvedSettings settings() {
    ResolvedSettings settings;
    settings.enabled = true;
    settings.controller = "ctl";
    settings.slurm_nodes = {"n1", "n2"};
    settings.users = Users::llmgw;
    return settings;
}

KnownMachines reports(const std::string& ctl, const std::string& n1, const std::string& n2) {
    KnownMachines known;
    for (const auto& [name, users] : {std::pair{"ctl", ctl}, {"n1", n1}, {"n2", n2}}) {
        MachineReport report;
        report.name = name;
        report.users = users;
        known.machines.push_back({report, 0});
    }
    return known;
}

const std::vector<Account> accounts{
    {"ann@x", 200000, true, {}}, {"bob@x", 200001, true, {}}, {"cat@x", 200002, false, {}}};

UsersState assessed(const KnownMachines& known, const std::vector<Uid>& refused = {},
                    GateOverride forced = GateOverride::automatic) {
    return assess_users(settings(), known, accounts, refused, forced);
}

TEST(UsersState, refuses_who_is_not_on_every_machine_and_says_where) {
    const UsersState state = assessed(reports("200000-200002", "200000-200002", "200000"));
    EXPECT_EQ(refusal_of(state, 200000), std::nullopt);
    ASSERT_TRUE(refusal_of(state, 200001));
    EXPECT_NE(refusal_of(state, 200001)->find("not on n2 yet"), std::string::npos);
    EXPECT_EQ(state.everywhere.text(100), "200000");
}

TEST(UsersState, a_machine_that_never_reported_has_nobody) {
    KnownMachines known = reports("200000", "200000", "200000");
    known.machines.pop_back();
    EXPECT_NE(refusal_of(assessed(known), 200000)->find("not on n2 yet"), std::string::npos);
    EXPECT_NE(refusal_of(assessed({}), 200000)->find("not on ctl, n1, n2 yet"), std::string::npos);
}

TEST(UsersState, inactive_ones_are_refused_wherever_they_are) {
    const std::string all = "200000-200002";
    EXPECT_NE(refusal_of(assessed(reports(all, all, all)), 200002)->find("not active in llmgw"),
              std::string::npos);
}

TEST(UsersState, nobody_else_is_looked_at) {
    const UsersState state = assessed(reports("", "", ""), {200001});
    for (const Uid uid : {0U, 1000U, 199999U, 200001U, 200003U, 4294967295U}) {
        EXPECT_EQ(refusal_of(state, uid), std::nullopt) << uid;
    }
    EXPECT_NE(refusal_of(state, 200000), std::nullopt);
}

TEST(UsersState, an_admins_hand_opens_it_for_all) {
    const UsersState state = assessed(reports("", "", ""), {}, GateOverride::open);
    EXPECT_EQ(refusal_of(state, 200000), std::nullopt);
}

TEST(UsersState, is_read_as_it_was_written) {
    for (const UsersState& state :
         {assessed(reports("200000-200002", "200000-200002", "200000")), assessed({}), UsersState{},
          assessed(reports("", "", ""), {}, GateOverride::open)}) {
        const Result<UsersState> read = parse_users_state(format_users_state(state));
        ASSERT_TRUE(read.ok()) << read.error().message << "\n" << format_users_state(state);
        EXPECT_EQ(read.value(), state);
    }
}

// The most accounts there can be, none in turn, all waiting for machines with the longest names.
TEST(UsersState, the_largest_one_fits_in_its_file) {
    ResolvedSettings many = settings();
    many.slurm_nodes.clear();
    for (int i = 0; i < 300; ++i) many.slurm_nodes.push_back(std::string(60, 'n') + std::to_string(100 + i));
    std::vector<Account> all;
    for (Uid uid = first_account_uid; all.size() < limits::accounts; uid += 2)
        all.push_back({"x", uid, true, {}});
    const std::string text = format_users_state(assess_users(many, {}, all, {}, GateOverride::automatic));
    EXPECT_LT(text.size(), limits::users_file_bytes);
    const Result<UsersState> read = parse_users_state(text);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_TRUE(read.value().ours.contains(all.back().uid));
    // Of those who are told nothing special, too, each is refused with a sentence.
    EXPECT_NE(refusal_of(read.value(), all.back().uid)->find("not on every machine"), std::string::npos);
    EXPECT_LT(refusal_of(read.value(), all.front().uid)->size(), limits::message_bytes);
}

TEST(UsersState, refuses_garbage) {
    const std::string good = format_users_state(assessed(reports("", "200001", "")));
    for (std::size_t cut = 0; cut + 1 < good.size(); cut += 7)
        EXPECT_FALSE(parse_users_state(good.substr(0, cut)).ok());
    const auto with = [](const std::string& state, const std::string& ours, const std::string& waiting) {
        return parse_users_state("llmgw-slurm-users 1\nstate " + state + "\nours " + ours +
                                 "\neverywhere -\nwaiting " + waiting + "\nend\n");
    };
    EXPECT_TRUE(with("checked", "200000", "200000 x").ok());
    EXPECT_FALSE(with("ajar", "200000", "-").ok());
    EXPECT_FALSE(with("checked", "5,3", "-").ok());
    EXPECT_FALSE(with("checked", "200000", "x 5").ok());
    EXPECT_FALSE(with("checked", "200000", "200000").ok());
}

}  // namespace
}  // namespace llmgw
