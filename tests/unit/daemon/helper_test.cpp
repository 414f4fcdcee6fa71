// The helper in one process: a real leader, a real event loop, a machine in a temporary directory.
#include "daemon/helper.hpp"

#include "core/node_state.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"
#include "slurm/installation.hpp"
#include "unit/bus/support.hpp"
#include "unit/leader/support.hpp"
#include "unit/service/machine.hpp"

namespace llmgw::daemon {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::eventually;

// n1 alone, which is what the fixture's machine is called.
constexpr const char* one_machine = R"({"enabled":true,"controller":"n1","nodes":["n1"],"containers":true})";

class HelperTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"run", "state", "leader"}) fs::create_directory(machine_.at(name));
        settings(one_machine);
        start_leader();
        options_.paths = machine_.paths;
        options_.run_dir = machine_.at("run");
        options_.state_dir = machine_.at("state");
        options_.leader = {"http://127.0.0.1:" + std::to_string(port_), machine_.at("leader/token.machine"),
                           machine_.at("leader/token.admin"), ""};
    }
    void TearDown() override { stop(); }

    void settings(const std::string& text) const { machine_.put("leader/settings.json", text); }
    void start_leader() {
        leader::Options options;
        options.directory = machine_.at("leader");
        options.port = port_;
        Result<std::unique_ptr<leader::Leader>> started =
            leader::Leader::start(options, [] { return static_cast<std::int64_t>(::time(nullptr)); });
        ASSERT_TRUE(started.ok()) << started.error().message;
        leader_ = std::move(started).value();
        port_ = leader_->port();
    }
    void start() {
        thread_ = std::make_unique<test::LoopThread>();
        helper_ = std::make_unique<Helper>(options_, WantedVersions{"0.24.0", "4.2.1"}, thread_->loop(),
                                           thread_->mailbox());
        thread_->mailbox().post([this] { helper_->start([this] { ++changes_; }); });
        thread_->start();
    }
    void stop() {
        if (!thread_) return;
        thread_->stop();
        helper_.reset();
        thread_.reset();
    }
    [[nodiscard]] std::optional<NodeState> node() const {
        const Result<StateFile> file = read_state_file(machine_.at("run/node"), limits::state_file_bytes);
        if (!file) return std::nullopt;
        const Result<NodeState> state = parse_node_state(file.value().content);
        EXPECT_TRUE(state.ok()) << state.error().message;
        return state.value();
    }
    [[nodiscard]] std::optional<GateState> gate() const {
        const Result<StateFile> file = read_state_file(machine_.at("run/gate"), limits::state_file_bytes);
        if (!file) return std::nullopt;
        const Result<GateState> state = parse_gate_state(file.value().content);
        EXPECT_TRUE(state.ok()) << state.error().message;
        return state.value();
    }
    bool node_says(const std::string& reason) {
        return eventually([&] { return node() && node()->reason == reason; });
    }
    bool gate_says(bool open, const std::string& part) {
        return eventually([&] {
            const std::optional<GateState> state = gate();
            return state && state->open == open && state->message.find(part) != std::string::npos;
        });
    }
    // What a method answers, called in the loop as the bus does it.
    Result<std::string> answer(const std::function<void(bus::Answer<std::string>)>& ask) {
        auto promise = std::make_shared<std::promise<Result<std::string>>>();
        auto future = promise->get_future();
        thread_->mailbox().post(
            [=] { ask([promise](Result<std::string> result) { promise->set_value(std::move(result)); }); });
        if (future.wait_for(30s) != std::future_status::ready) return Error{Code::timeout, "no answer"};
        return future.get();
    }
    Result<std::string> set_gate(const std::string& mode) {
        return answer([=, this](auto given) { helper_->set_gate(mode, std::move(given)); });
    }
    Value description() {
        const Result<std::string> text = answer([this](auto given) { helper_->describe(std::move(given)); });
        EXPECT_TRUE(text.ok()) << text.error().message;
        Result<Value> value = json::parse(text ? text.value() : "null");
        EXPECT_TRUE(value.ok());
        return std::move(value).value();
    }
    std::string described(const std::string& key, const std::string& below = "") {
        const Value all = description();
        const Value* found = all.find(key);
        if (found != nullptr && !below.empty()) found = found->find(below);
        if (found == nullptr) return "missing";
        if (found->boolean() != nullptr) return *found->boolean() ? "yes" : "no";
        return found->text() == nullptr ? "no text" : *found->text();
    }
    static bool ready_here() {
        const Result<slurm::Installation> found = slurm::find_installation("/x");
        return found && major_minor(found.value().version) == "22.05";
    }

    test::Machine machine_;
    std::uint16_t port_ = 0;
    std::unique_ptr<leader::Leader> leader_;
    Options options_;
    std::unique_ptr<test::LoopThread> thread_;
    std::unique_ptr<Helper> helper_;
    std::atomic<int> changes_{0};
};

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
        const Clock::time_point start = Clock::now();
        act();
        EXPECT_TRUE(node_says(reason)) << node()->reason << " is not " << reason;
        // Two seconds is what people are promised; a machine that also compiles gets some more.
        EXPECT_LT(Clock::now() - start, 5s) << reason;
    };
    if (!ready_here()) GTEST_SKIP() << "the libraries here are for Slurm 22.05";
    ASSERT_TRUE(node_says("enroot: " + machine_.paths.enroot + " is not there"));
    changes_to("enroot is 3.5.0, wanted is 4.2.1", [&] { machine_.put_enroot("3.5.0"); });
    changes_to("pyxis is not in plugstack.conf", [&] { machine_.put_enroot("4.2.1"); });
    changes_to("pyxis: " + machine_.pyxis() + " is not there", [&] { machine_.put_plugstack(); });
    changes_to("pyxis 0.24.0, enroot 4.2.1", [&] { machine_.put_pyxis("good"); });
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

// The hand on the gate must not need the leader.
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

// Killed between writing the settings down and taking the file away.
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
