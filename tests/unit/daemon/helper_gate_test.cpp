// The helper on the controller, and on what is no controller any more.
#include "unit/daemon/on_machine.hpp"

namespace llmgw::daemon {
namespace {

using test::eventually;

TEST_F(HelperTest, keeps_to_what_the_administrator_forces) {
    start();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    EXPECT_EQ(set_gate("open").value(), "the gate is open");
    EXPECT_TRUE(gate_says(true, "an administrator has opened"));
    EXPECT_EQ(described("gate", "mode"), "open");
    stop();
    start();
    EXPECT_TRUE(eventually([&] { return changes_ > 0; }));
    EXPECT_TRUE(gate_says(true, "an administrator has opened"));
    EXPECT_EQ(set_gate("closed").value(), "the gate is closed");
    EXPECT_TRUE(gate_says(false, "an administrator has closed"));
    EXPECT_EQ(set_gate("auto").value(), "the gate is auto");
    EXPECT_TRUE(gate_says(false, "containers are not ready"));
    EXPECT_EQ(set_gate("ajar").error(), (Error{Code::invalid, "the gate can be open, closed or auto"}));
}

TEST_F(HelperTest, opens_and_closes_the_gate_without_the_leader) {
    machine_.put("state/settings.json", one_machine);
    machine_.put("run/gate",
                 "llmgw-slurm-gate 1\nstate open\nrevision 9\noci no\nmessage llmgw: open\nend\n");
    leader_.reset();
    start();
    ASSERT_TRUE(eventually([&] { return changes_ > 0; }));
    EXPECT_TRUE(gate()->open) << "the last decision stands until the reports come";
    EXPECT_TRUE(set_gate("closed").ok());
    EXPECT_TRUE(gate_says(false, "an administrator has closed"));
    EXPECT_TRUE(set_gate("open").ok());
    EXPECT_TRUE(gate_says(true, "an administrator has opened"));
    EXPECT_TRUE(set_gate("auto").ok());
    EXPECT_TRUE(gate_says(false, "it has not answered yet")) << gate()->message;
    EXPECT_GE(gate()->revision, 12U);
}

TEST_F(HelperTest, closes_the_gate_after_a_boot_without_the_leader) {
    machine_.put("state/settings.json", one_machine);
    leader_.reset();
    start();
    EXPECT_TRUE(gate_says(false, "it has not answered yet"));
}

TEST_F(HelperTest, switches_containers_through_the_leader) {
    start();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    const auto set = [&](bool on) {
        return answer([=, this](auto given) { helper_->set_containers(on, std::move(given)); });
    };
    EXPECT_EQ(set(false).value(), "containers are switched off");
    EXPECT_TRUE(gate_says(false, "containers are switched off on this cluster"));
    EXPECT_EQ(set(true).value(), "containers are switched on");
    EXPECT_TRUE(gate_says(false, "containers are not ready"));
}

TEST_F(HelperTest, has_no_gate_where_it_is_not_the_controller) {
    settings(R"({"enabled":true,"controller":"ctl","nodes":["n1"],"containers":true})");
    leader_->reload_settings();
    machine_.put("run/gate",
                 "llmgw-slurm-gate 1\nstate open\nrevision 9\noci no\nmessage llmgw: open\nend\n");
    start();
    EXPECT_TRUE(eventually([&] { return described("controller") == "ctl"; }));
    EXPECT_TRUE(eventually([&] { return !gate().has_value(); }));
    EXPECT_EQ(described("is_controller"), "no");
    EXPECT_EQ(described("gate"), "missing");
    EXPECT_EQ(set_gate("open").error(), (Error{Code::invalid, "the gate is on ctl; say it there"}));
    // The machines it asks the leader for when somebody asks it.
    EXPECT_TRUE(eventually([&] {
        const Value all = description();
        const Value* machines = all.find("machines");
        return machines != nullptr && machines->array() != nullptr && machines->array()->size() == 2;
    }));
}

TEST_F(HelperTest, takes_an_old_gate_away_at_the_start) {
    const char* elsewhere = R"({"enabled":true,"controller":"ctl","nodes":["n1"],"containers":true})";
    settings(elsewhere);
    leader_->reload_settings();
    machine_.put("state/settings.json", elsewhere);
    machine_.put("run/gate",
                 "llmgw-slurm-gate 1\nstate open\nrevision 9\noci no\nmessage llmgw: open\nend\n");
    start();
    EXPECT_TRUE(eventually([&] { return !gate().has_value(); }));
}

TEST_F(HelperTest, gives_the_gate_up_and_takes_it_back_with_the_settings) {
    start();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    for (int i = 0; i < 3; ++i) {
        settings(R"({"enabled":true,"controller":"ctl","nodes":["n1"]})");
        leader_->reload_settings();
        EXPECT_TRUE(eventually([&] { return !gate().has_value(); }));
        settings(one_machine);
        leader_->reload_settings();
        EXPECT_TRUE(gate_says(false, "containers are not ready"));
    }
}

}  // namespace
}  // namespace llmgw::daemon
