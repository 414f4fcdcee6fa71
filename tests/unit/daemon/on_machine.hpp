// The helper in one process: a real leader, a real event loop, a machine in a temporary directory.
#pragma once

#include "core/node_state.hpp"
#include "daemon/helper.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"
#include "slurm/installation.hpp"
#include "unit/bus/support.hpp"
#include "unit/leader/support.hpp"
#include "unit/service/machine.hpp"

namespace llmgw::daemon {

// n1 alone, which is what the fixture's machine is called.
inline constexpr const char* one_machine =
    R"({"enabled":true,"controller":"n1","nodes":["n1"],"containers":true})";

class HelperTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"run", "state", "leader"})
            std::filesystem::create_directory(machine_.at(name));
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
        helper_ = std::make_unique<Helper>(options_, WantedVersions{"0.24.0", "4.2.1"}, nullptr,
                                           thread_->loop(), thread_->mailbox(), nullptr, lends_);
        thread_->mailbox().post([this] { helper_->start({[this] { ++changes_; }});  });
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
        return test::eventually([&] { return node() && node()->reason == reason; });
    }
    bool gate_says(bool open, const std::string& part) {
        return test::eventually([&] {
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
        if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
            return Error{Code::timeout, "no answer"};
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
    service::Lending* lends_ = nullptr;
    std::unique_ptr<test::LoopThread> thread_;
    std::unique_ptr<Helper> helper_;
    std::atomic<int> changes_{0};
};

}  // namespace llmgw::daemon
