#include "daemon/helper.hpp"

#include "unit/daemon/on_machine.hpp"

namespace llmgw::daemon {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::eventually;

TEST_F(HelperTest, writes_what_guard_and_gate_read_and_reports_it) {
    if (!ready_here()) GTEST_SKIP() << "the libraries here are for Slurm 22.05";
    machine_.put_everything();
    machine_.put("conf/oci.conf", "");
    start();
    ASSERT_TRUE(gate_says(true, "all 1 machines have pyxis 0.24.0 and enroot 4.2.1")) << gate()->message;
    ASSERT_TRUE(node());
    EXPECT_TRUE(node()->ready);
    EXPECT_TRUE(node()->oci);
    EXPECT_TRUE(gate()->oci);
    EXPECT_EQ(node()->reason, "pyxis 0.24.0, enroot 4.2.1");
    EXPECT_EQ(node()->pyxis_path, machine_.pyxis());
    EXPECT_EQ(node()->pyxis_fingerprint, stamp_of(machine_.pyxis()).value().text());
    EXPECT_GE(changes_, 1);
    EXPECT_EQ(described("state"), "ready");
    EXPECT_EQ(described("gate", "open"), "yes");
    EXPECT_EQ(described("gate", "mode"), "auto");
    EXPECT_EQ(described("is_controller"), "yes");
    EXPECT_EQ(described("leader", "error"), "");
}

TEST_F(HelperTest, sees_files_change) {
    start();
    ASSERT_TRUE(eventually([&] { return node().has_value(); }));
    const auto changes_to = [&](const std::string& reason, const std::function<void()>& act) {
        act();
        EXPECT_TRUE(node_says(reason)) << node()->reason << " is not " << reason;
    };
    if (!ready_here()) GTEST_SKIP() << "the libraries here are for Slurm 22.05";
    ASSERT_TRUE(node_says("enroot: " + machine_.paths.enroot + " is not there"));
    changes_to("enroot is 3.5.0, wanted is 4.2.1", [&] { machine_.put_enroot("3.5.0"); });
    changes_to("pyxis is not in plugstack.conf", [&] { machine_.put_enroot("4.2.1"); });
    changes_to("pyxis: " + machine_.pyxis() + " is not there", [&] { machine_.put_plugstack(); });
    changes_to("no container was started yet with what is installed now", [&] { machine_.put_pyxis("good"); });
    changes_to("pyxis 0.24.0, enroot 4.2.1", [&] {
        machine_.prove();
        machine_.put_pyxis("good");
    });
    changes_to(machine_.pyxis() + " is not pyxis", [&] { machine_.put_pyxis("other"); });
    changes_to("pyxis: " + machine_.pyxis() + " is not there", [&] { fs::remove(machine_.pyxis()); });
    changes_to("pyxis is not in plugstack.conf",
               [&] { machine_.put("conf/plugstack.conf", "include d/*.conf\n"); });
    fs::create_directory(machine_.at("conf/d"));
    changes_to("plugstack.conf has no line \"optional spank_llmgw.so\"", [&] {
        machine_.put_pyxis("good");
        machine_.put("conf/d/pyxis.conf", "optional " + machine_.pyxis() + "\n");
    });
    changes_to("enroot: " + machine_.paths.enroot + " can be written by others than root",
               [&] { ::chmod(machine_.paths.enroot.c_str(), 0777); });
    EXPECT_TRUE(gate_says(false, "n1 (enroot: " + machine_.paths.enroot));
}

TEST_F(HelperTest, writes_its_files_again_when_they_are_gone) {
    start();
    ASSERT_TRUE(eventually([&] { return node() && gate(); }));
    fs::remove(machine_.at("run/node"));
    fs::remove(machine_.at("run/gate"));
    EXPECT_TRUE(answer([this](auto given) { helper_->recheck(std::move(given)); }).ok());
    EXPECT_TRUE(node());
    EXPECT_TRUE(eventually([&] { return gate().has_value(); }));
}

TEST_F(HelperTest, writes_its_files_once_it_can) {
    fs::remove(machine_.at("run"));
    start();
    EXPECT_TRUE(eventually([&] { return changes_ > 0; }));
    fs::create_directory(machine_.at("run"));
    EXPECT_TRUE(answer([this](auto given) { helper_->recheck(std::move(given)); }).ok());
    EXPECT_TRUE(node());
    EXPECT_TRUE(eventually([&] { return gate().has_value(); }));
}

TEST_F(HelperTest, rechecks_and_says_what_it_found) {
    start();
    const Result<std::string> said = answer([this](auto given) { helper_->recheck(std::move(given)); });
    ASSERT_TRUE(said.ok());
    EXPECT_EQ(said.value().find("not ready: "), 0U) << said.value();
}

// The hand on the gate must not need the leader.

TEST_F(HelperTest, says_why_it_cannot_switch_containers) {
    options_.leader.admin_token_file.clear();
    start();
    const Result<std::string> said =
        answer([this](auto given) { helper_->set_containers(true, std::move(given)); });
    ASSERT_FALSE(said.ok());
    EXPECT_EQ(said.error().code, Code::denied);
}

TEST_F(HelperTest, keeps_the_last_good_settings) {
    start();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    settings("{\"enabled\":");
    leader_->reload_settings();
    EXPECT_TRUE(eventually([&] { return !described("settings_problem").empty(); }));
    EXPECT_EQ(described("controller"), "n1");
    EXPECT_TRUE(gate());
    settings(one_machine);
    leader_->reload_settings();
    EXPECT_TRUE(eventually([&] { return described("settings_problem").empty(); }));
}

TEST_F(HelperTest, goes_on_while_the_leader_is_away) {
    start();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    leader_.reset();
    EXPECT_TRUE(eventually([&] { return !described("leader", "error").empty(); }));
    EXPECT_TRUE(gate());
    machine_.put_enroot("3.5.0");
    if (ready_here()) {
        EXPECT_TRUE(node_says("enroot is 3.5.0, wanted is 4.2.1"));
    }
    start_leader();
    EXPECT_TRUE(eventually([&] { return described("leader", "error").empty(); }));
    EXPECT_TRUE(gate_says(false, ready_here() ? "n1 (enroot is 3.5.0" : "n1 ("));
}

TEST_F(HelperTest, starts_with_the_settings_of_last_time) {
    start();
    ASSERT_TRUE(gate_says(false, "containers are not ready"));
    stop();
    leader_.reset();
    start();
    EXPECT_TRUE(eventually([&] { return described("state") != "checking"; }));
    EXPECT_EQ(described("controller"), "n1");
    EXPECT_EQ(described("cluster_name"), "llmgw");
    EXPECT_NE(described("machines_error"), "missing");
}

// Killed between writing the settings down and taking the file away.

TEST_F(HelperTest, answers_many_descriptions_at_once_also_without_a_leader) {
    machine_.put("state/settings.json", R"({"enabled":true,"controller":"ctl","nodes":["n1"]})");
    leader_.reset();
    start();
    std::vector<std::future<std::string>> asked;
    for (int i = 0; i < 20; ++i) {
        asked.push_back(std::async(std::launch::async, [&] { return described("machine"); }));
    }
    for (auto& each : asked) EXPECT_EQ(each.get(), "n1");
}

TEST_F(HelperTest, ends_in_the_middle_of_everything) {
    machine_.put("bin/enroot", "#!/bin/sh\nsleep 5\n", 0755);
    for (int i = 0; i < 5; ++i) {
        const Clock::time_point begin = Clock::now();
        start();
        thread_->mailbox().post([this] { helper_->describe([](const Result<std::string>&) {}); });
        ::poll(nullptr, 0, 50 * i);
        stop();
        EXPECT_LT(Clock::now() - begin, 15s);
    }
}

}  // namespace
}  // namespace llmgw::daemon
